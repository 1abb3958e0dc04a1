#include <nats/nats.h>
#include <openssl/crypto.h>
