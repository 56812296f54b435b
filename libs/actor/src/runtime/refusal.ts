/** What is published of an input that was refused. */
import { type Key, type MessageMeta, PublicEvent, RunId } from "@reprise/protocol"
import { Option, Schema } from "effect"
import type { Refusal, Tagged } from "../Actor.ts"

const {
  code: _code,
  command: _command,
  reason: _reason,
  runId: _runId,
  ...placeFields
} = PublicEvent.cases.CommandRefused.fields
const decodePlace = Schema.decodeUnknownOption(Schema.Struct(placeFields))

/** The answer to a refused input: it names whatever the input named, so that nobody takes it for a later one's. */
export const refusalEvent = (
  run: string,
  input: Tagged,
  { code, reason }: Pick<Refusal, "code" | "reason">
): PublicEvent =>
  PublicEvent.cases.CommandRefused.make({
    ...Option.getOrElse(decodePlace({ ...input, _tag: "CommandRefused" }), () => ({})),
    ...{ runId: RunId.make(run), command: input._tag, reason },
    ...(code === undefined ? {} : { code })
  })

const isRunId = Schema.is(RunId)

/** The run that a refusal is published under: the actor's, the input's own, the envelope's, or the actor's key. */
export const runOfRefused = (known: string | undefined, input: object, meta: MessageMeta, key: Key): string => {
  const named = "runId" in input ? input.runId : undefined
  return [known, named, meta.subject].find((run) => isRunId(run)) ?? key
}
