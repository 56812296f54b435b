/**
 * The compact record from which a fresh author continues (docs/design/continuation.md#the-state-file). The journal is the
 * truth; the file is only its projection and can be lost, edited or half written, so it is checked on every read.
 */
import { CheckpointType, type CompletedTask, defined } from "@reprise/protocol"
import { Result, Schema, SchemaIssue, SchemaParser } from "effect"

const line = Schema.String.check(
  Schema.isPattern(/^\S(?:[^\r\n]{0,254}\S)?$/, { message: "must be one line of 1 to 256 characters" })
)
const commit = Schema.String.check(Schema.isPattern(/^[0-9a-f]{4,64}$/, { message: "must be a commit hash" }))

/** The file's JSON. A file without `version` has version 1; later versions must have the field. */
export const ContinuationState = Schema.Struct({
  plan_id: line,
  completed_tasks: Schema.Array(Schema.Struct({ id: line, commit, files: Schema.Array(Schema.String) })),
  /** Absent when no checkpoint is the reason for the fresh author. `resolution` is absent until a human answers. */
  checkpoint: Schema.optionalKey(
    Schema.Struct({ task: line, type: CheckpointType, resolution: Schema.optionalKey(Schema.String) })
  ),
  /** Absent when no task is left. */
  resume_at: Schema.optionalKey(line)
})
export type ContinuationState = typeof ContinuationState.Type

export class ContinuationStateRefused extends Schema.TaggedError<ContinuationStateRefused>()(
  "ContinuationStateRefused",
  {
    /** `truncated`: the text ends too early. `corrupt`: it is not JSON. `invalid`: it is JSON of another shape. */
    code: Schema.Literals(["truncated", "corrupt", "invalid", "another-plan", "newer-version"]),
    detail: Schema.String
  }
) {
  override get message() {
    return `the continuation state cannot be used: ${this.detail}; write it again from the journal.`
  }
}

const version = 1
/** A detail is cut after so many characters: the file can hold anything. */
const longestDetail = 400
const decodeState = SchemaParser.decodeUnknownResult(ContinuationState)
const decodeVersion = SchemaParser.decodeUnknownResult(Schema.Struct({ version: Schema.Finite }))
const describe = SchemaIssue.makeFormatterDefault()

const refuse = (code: ContinuationStateRefused["code"], detail: string) =>
  Result.fail(new ContinuationStateRefused({ code, detail }))

/** Reads the file's text and checks that it is about the plan `planId`. Unknown keys are ignored. */
export const decodeContinuationState = (
  text: string,
  planId: string
): Result.Result<ContinuationState, ContinuationStateRefused> => {
  const json = Result.try({ try: (): unknown => JSON.parse(text), catch: () => undefined })
  if (Result.isFailure(json)) {
    const whole = text.trimStart().startsWith("{") && text.trimEnd().endsWith("}")
    return whole
      ? refuse("corrupt", "it is not JSON")
      : refuse("truncated", "it does not begin and end like a JSON object")
  }
  const found = decodeVersion(json.success)
  if (Result.isSuccess(found) && found.success.version > version) {
    return refuse("newer-version", `it has version ${found.success.version}, but this Reprise knows only ${version}`)
  }
  const state = decodeState(json.success)
  if (Result.isFailure(state))
    return refuse("invalid", describe(state.failure).slice(0, longestDetail).replaceAll(/\s+/g, " "))
  const twice = repeated(state.success.completed_tasks.map((task) => task.id))
  if (twice !== undefined) return refuse("invalid", `task ${twice} is completed twice`)
  return state.success.plan_id === planId
    ? Result.succeed(state.success)
    : refuse("another-plan", `it is about plan ${state.success.plan_id}, not ${planId}`)
}

/** The file's text: indented JSON with a final newline. Equal states give equal texts. */
export const encodeContinuationState = (state: ContinuationState): string => {
  const { plan_id, completed_tasks, checkpoint, resume_at } = state
  const completed = completed_tasks.map(({ id, commit, files }) => ({ id, commit, files }))
  return `${JSON.stringify({ plan_id, completed_tasks: completed, checkpoint, resume_at }, null, 2)}\n`
}

/** Builds the record from what the run knows; a resolution without a checkpoint is dropped. */
export const continuationState = (known: {
  readonly planId: string
  readonly completedTasks: ReadonlyArray<CompletedTask>
  readonly checkpoint?: { readonly task: string; readonly type: CheckpointType }
  readonly resolution?: string
  readonly resumeAt?: string
}): ContinuationState => {
  const { planId, completedTasks, checkpoint, resolution, resumeAt } = known
  const resolved = resolution === undefined ? {} : { resolution }
  return {
    plan_id: planId,
    completed_tasks: completedTasks,
    ...(checkpoint === undefined ? {} : { checkpoint: { task: checkpoint.task, type: checkpoint.type, ...resolved } }),
    ...defined({ resume_at: resumeAt })
  }
}

const repeated = (ids: ReadonlyArray<string>) => ids.find((id, index) => ids.indexOf(id) !== index)
