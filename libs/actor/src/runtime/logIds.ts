/** By what a line in the logs is found: the ids of the run, phase, session and turn that it is about. */
import { idsAround, type Key, type MessageMeta, type ServiceName } from "@reprise/protocol"

const names = ["runId", "phase", "step", "sessionId", "turnId", "escalationId"]

const idsIn = (message: unknown): Record<string, string> =>
  typeof message === "object" && message !== null
    ? Object.fromEntries(
        Object.entries(message).filter(
          (field): field is [string, string] => names.includes(field[0]) && typeof field[1] === "string"
        )
      )
    : {}

/** Of the subject and envelope of a message, of what it carries (a command, an event), and of itself. */
export const logIds = (service: ServiceName, key: Key, meta: MessageMeta, message: object): Record<string, string> => ({
  ...idsAround(service, key, meta.subject),
  ...("command" in message ? idsIn(message.command) : {}),
  ...("event" in message ? idsIn(message.event) : {}),
  ...idsIn(message)
})
