/** Public events as data, and as the lines of many runs at once. Pure. */
import type { SeenEvent } from "@reprise/actor"
import type { PublicEvent } from "@reprise/protocol"
import { visible } from "../terminal/visible.ts"
import { eventLine } from "./eventLine.ts"

/**
 * `{"type","time","id","runId",…payload}` (docs/design/protocol.md#the-command-line). `type` is the event's name, so a
 * checkpoint's own type becomes `checkpointType`.
 */
export const publicJson = ({ _tag, ...payload }: PublicEvent, { id, time }: { id: string; time: string }) => {
  const line = { type: _tag, time, id }
  return { ...line, ...payload, ...line, ...("type" in payload ? { checkpointType: payload.type } : {}) }
}

/** Several questions may be open, so each line says how to see its own. */
const hint = (event: PublicEvent): string =>
  event._tag === "EscalationRaised" ? `; 'reprise gate show ${event.escalationId}' shows it` : ""

/** `10:15:02 RUN …`; undefined if the event says nothing new. `everyRun`: the line names its run. */
export const timedLine = (
  { event, meta }: Pick<SeenEvent, "event" | "meta">,
  everyRun: boolean
): string | undefined => {
  const line = eventLine(event)
  if (line === undefined) return undefined
  return `${meta.time.slice(11, 19)} ${everyRun ? `${event.runId} ` : ""}${visible(line)}${hint(event)}`
}
