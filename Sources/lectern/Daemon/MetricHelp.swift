/// What `GET /metrics` says about each metric.
enum MetricHelp {
    static let texts = [
        "lectern_messages_total": "Messages that authors published.",
        "lectern_rejected_total": "Messages rejected, by code.",
        "lectern_repeats_total": "Messages that repeated an earlier one.",
        "lectern_assembling": "Strokes whose shards are still arriving.",
        "lectern_gaps_total": "Gaps in an author's numbers that made an operation wait.",
        "lectern_gave_up_total": "Runs of an author's numbers that were given up.",
        "lectern_late_total": "Strokes that came after they had been given up, and releases by policy, by reason.",
        "lectern_clamped_total": "Media times too far ahead to be believed.",
        "lectern_operations_total": "Operations logged, by kind.",
        "lectern_clock_samples_total": "Video clock samples, by outcome.",
        "lectern_released_total": "Operations released, by cohort.",
        "lectern_gate_depth": "Operations held at the gate, by cohort.",
        "lectern_release_lateness_seconds": "Time from due to published, by cohort.",
        "lectern_joins_total": "Join requests answered, by outcome.",
        "lectern_rooms": "Rooms in memory.",
        "lectern_mailbox_bytes": "Bytes that wait for the workers.",
        "lectern_mailbox_dropped_total": "Items dropped because a worker's mailbox was full.",
        "lectern_misaddressed_total": "Messages on subjects that are no room's, or not of its partition.",
        "lectern_nats_dropped_total": "Messages that the NATS client dropped because they were not taken fast enough.",
        "lectern_checkpoints_total": "Checkpoints of rooms written, by outcome.",
        "lectern_checkpoint_bytes_total": "Bytes of the rooms' states in them.",
        "lectern_partitions_serving": "Partitions that this daemon serves.",
        "lectern_members": "Daemons that share the partitions, this one included.",
        "lectern_nats_connected": "1 while the service is connected to NATS.",
    ]
}
