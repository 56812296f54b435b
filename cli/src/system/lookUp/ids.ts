/**
 * The ids that a shell offers. They are asked for while somebody types, so nothing is started for them: where nobody runs
 * the broker they are those that were there when the process that did the work ended.
 */
import { join } from "node:path"
import { Messenger } from "@reprise/actor"
import { readForeignText, replaceFile } from "@reprise/process"
import { Effect, Layer, Schema } from "effect"
import type { Project } from "../../project/Project.ts"
import { idKinds } from "../../terminal/idKinds.ts"
import { idLines } from "../../views/idLines.ts"
import { allQuestions, allRuns, allSessions } from "./lookUp.ts"

const fileOf = ({ directory }: Project): string => join(directory, "ids.json")

const Remembered = Schema.fromJsonString(Schema.Record(Schema.Literals(idKinds), Schema.Array(Schema.String)))
const decode = Schema.decodeUnknownEffect(Remembered)

/** As the services know them now. */
export const currentIds = Effect.map(
  Effect.all([allRuns, allSessions, allQuestions], { concurrency: "unbounded" }),
  ([runs, sessions, questions]) => idLines(runs, sessions, questions)
)

/** Fails where no work has ended here yet. */
export const rememberedIds = (project: Project) =>
  Effect.tryPromise(() => readForeignText(fileOf(project), { largestBytes: 64 * 1024 * 1024, follow: false })).pipe(
    Effect.flatMap(decode)
  )

/** What cannot be kept is not missed. */
export const rememberIds = (project: Project) =>
  currentIds.pipe(
    Effect.flatMap((ids) => Effect.tryPromise(() => replaceFile(fileOf(project), JSON.stringify(ids)))),
    Effect.timeout("5 seconds"),
    Effect.ignore
  )

/** Keeps the ids when the work ends, while the services still answer. */
export const rememberingIds = (project: Project) =>
  Layer.effectDiscard(
    Effect.flatMap(Messenger, (messenger) =>
      Effect.addFinalizer(() => Effect.provideService(rememberIds(project), Messenger, messenger))
    )
  )
