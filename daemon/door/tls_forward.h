/* tls_forward.h - a forward that speaks plain HTTP to the leg and TLS to the server.
 *
 * One request a connection, with the forward's header put in and every such header of the agent's
 * taken out; the answer goes to the leg as it comes.  Should the server send the header's value
 * back, it is masked.
 */
#pragma once

#include "passage.h"

bool tls_forward_is(const struct passage *passage);

/* The server's socket is connected: TLS, then the request, then the answer. */
void tls_forward_begin(struct passage *passage);

/* Frees what the above made. */
void tls_forward_done(struct passage *passage);
