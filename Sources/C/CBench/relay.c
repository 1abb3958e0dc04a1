#include "relay.h"

#include <inttypes.h>
#include <nats/nats.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static uint64_t operations = 0;

static void publish_operation(natsConnection *connection, const char *subject, const char *author, natsMsg *received) {
    natsMsg *message = NULL;
    char index[24];
    char digest[24];
    snprintf(index, sizeof index, "%" PRIu64, operations);
    snprintf(digest, sizeof digest, "%016" PRIx64, operations * UINT64_C(0x9e3779b97f4a7c15));
    if (natsMsg_Create(&message, subject, NULL, natsMsg_GetData(received), natsMsg_GetDataLength(received)) != NATS_OK)
        return;
    natsMsgHeader_Add(message, "Ink-Index", index);
    natsMsgHeader_Add(message, "Ink-Room", "dk5xv0ppjb4w-1");
    natsMsgHeader_Add(message, "Ink-Author", author);
    natsMsgHeader_Add(message, "Ink-Digest", digest);
    natsConnection_PublishMsg(connection, message);
    natsMsg_Destroy(message);
}

static void relay(natsConnection *connection, natsSubscription *subscription, natsMsg *received, void *closure) {
    const char *subject = natsMsg_GetSubject(received);
    const char *input = strstr(subject, ".in.");
    if (input != NULL) {
        const int address = (int)(input - subject);
        const char *author = input + 4;
        char to[1200];
        char feedback[96];
        operations++;

        snprintf(to, sizeof to, "%.*s.feedback.%s", address, subject, author);
        const int length = snprintf(
            feedback, sizeof feedback, "{\"kind\":\"applied\",\"n\":%" PRIu64 ",\"index\":%" PRIu64 "}", operations,
            operations);
        natsConnection_Publish(connection, to, feedback, length);

        snprintf(to, sizeof to, "%.*s.head", address, subject);
        publish_operation(connection, to, author, received);
        snprintf(to, sizeof to, "%.*s.out.main", address, subject);
        publish_operation(connection, to, author, received);
    }
    natsMsg_Destroy(received);
}

int relay_run(const char *url, const char *root, const char *stream) {
    natsConnection *connection = NULL;
    natsSubscription *subscription = NULL;
    char subject[256];
    natsStatus status = natsConnection_ConnectTo(&connection, url);
    if (status != NATS_OK) return status;
    snprintf(subject, sizeof subject, "%s.*.*.in.*", root);
    if (stream == NULL) {
        status = natsConnection_Subscribe(&subscription, connection, subject, relay, NULL);
    } else {
        jsCtx *jetstream = NULL;
        jsSubOptions options;
        jsSubOptions_Init(&options);
        options.Ordered = true;
        options.Stream = stream;
        status = natsConnection_JetStream(&jetstream, connection, NULL);
        if (status == NATS_OK)
            status = js_Subscribe(&subscription, jetstream, subject, relay, NULL, NULL, &options, NULL);
    }
    if (status != NATS_OK) return status;
    natsSubscription_SetPendingLimits(subscription, -1, -1);
    for (;;) pause();
}
