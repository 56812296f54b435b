/** What tests and benchmarks do to the embedded server. */
import { readFileSync } from "node:fs"

/** The configuration of a server on which everybody may do everything, with every prefix. */
export const openTemplate = readFileSync(new URL("../../../nats.conf", import.meta.url), "utf8").replace(
  /^#\? accounts\n/m,
  `accounts {
  REPRISE {
    jetstream: enabled
    users: [{ nkey: $REPRISE_NKEY_OPERATOR }, { user: $REPRISE_PERSON_USER, password: $REPRISE_PERSON_PASSWORD }]
  }
  SYSTEM { users: [{ user: $REPRISE_SYSTEM_USER, password: $REPRISE_SYSTEM_PASSWORD }] }
}
system_account: SYSTEM
`
)
