/** One event of many runs as it happens: a line of JSON, or a line for people that names its run. */
import type { SeenEvent } from "@reprise/actor"
import { data, json, visible } from "../terminal/Printer.ts"
import { eventLine } from "./eventLine.ts"
import { publicJson } from "./publicJson.ts"

export interface Live {
  readonly json: boolean
  /** More than one run is shown: each line names its own. */
  readonly everyRun: boolean
}

/** Many questions may be open where this is read: each says how it is looked at. */
const hint = (event: SeenEvent["event"]): string =>
  event._tag === "EscalationRaised" ? `; 'reprise gate show ${event.escalationId}' shows it` : ""

/** Prints nothing for people where an event says nothing new. */
export const liveEvent = ({ event, meta }: Pick<SeenEvent, "event" | "meta">, live: Live): void => {
  const line = live.json ? undefined : eventLine(event)
  if (live.json) json(publicJson(event, meta))
  else if (line !== undefined)
    data(`${meta.time.slice(11, 19)} ${live.everyRun ? `${event.runId} ` : ""}${visible(line)}${hint(event)}`)
}
