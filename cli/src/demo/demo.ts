/**
 * `reprise demo`: a real run with everything real but the model, which plays a script. No key and no network are
 * needed; nothing outside of the demo's own folder is touched.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import type { EscalationView } from "@reprise/protocol"
import { openCodeSettings, startScriptedModel } from "@reprise/scripted-model"
import { Effect, Option } from "effect"
import { exitCodes, exitWith, missing, wrongUse } from "../CliFailure.ts"
import { loadConfig } from "../config/loadConfig.ts"
import { runOptions } from "../config/runOptions.ts"
import type { Answer } from "../gate/answerQuestion.ts"
import { color, say } from "../Printer.ts"
import { findProject } from "../project/Project.ts"
import { executePlan } from "../run/executePlan.ts"
import { questionText } from "../show/question.ts"
import { makeSampleRepository, planPath } from "./sampleRepository.ts"
import { script } from "./script.ts"

interface Flags {
  readonly directory: Option.Option<string>
  readonly noInput: boolean
  readonly json: boolean
}

const guidance = "Esperanto"

const answerItself =
  (json: boolean) =>
  (question: EscalationView): Answer => {
    if (!json) {
      say(`\n${questionText(question, Date.now())}`)
      say(color.cyan(`The demo answers for you: c, with the guidance '${guidance}'.`))
    }
    return { choice: "continue-session", guidance }
  }

const chooseDirectory = Effect.fnUntraced(function* (given: Option.Option<string>) {
  if (Option.isNone(given)) return realpathSync(mkdtempSync(join(tmpdir(), "reprise-demo-")))
  const directory = resolve(given.value)
  if (existsSync(directory) && readdirSync(directory).length > 0) {
    return yield* wrongUse("not-empty", `${directory} is not empty.`, "Give a folder that does not exist yet.")
  }
  mkdirSync(directory, { recursive: true })
  return realpathSync(directory)
})

export const demo = Effect.fn("demo")(function* (flags: Flags) {
  const directory = yield* chooseDirectory(flags.directory)
  const root = join(directory, "greeter")
  mkdirSync(root)
  yield* Effect.tryPromise({
    try: () => makeSampleRepository(root),
    catch: (cause) =>
      missing("git", `The sample repository cannot be made: ${String(cause)}`, "Check that git works.", cause)
  })
  const model = yield* startScriptedModel({ script, recordPath: join(directory, "model-calls.jsonl") }).pipe(
    Effect.mapError((cause) =>
      missing("scripted-model", `The scripted model does not start: ${cause.message}`, "Try again.", cause)
    )
  )
  if (!flags.json) say(`A sample repository in ${root}, a scripted model, a private broker and a real OpenCode.`)
  const project = yield* findProject(root)
  const config = yield* loadConfig(root, new Map())
  const terminal = process.stdin.isTTY === true && process.stderr.isTTY === true && !flags.noInput
  const code = yield* executePlan({
    project,
    config,
    planPath,
    options: runOptions(config, { auto: false, allowDirty: false, skipQuality: false }),
    human: terminal ? "terminal" : answerItself(flags.json),
    json: flags.json,
    openCodeEnvironment: openCodeSettings(join(directory, "opencode"), model.openaiUrl),
    places: [["model calls", join(directory, "model-calls.jsonl")]]
  })
  if (!flags.json)
    say("'reprise status' in that workspace shows the run again. In a repository of yours, begin with 'reprise init'.")
  if (code !== exitCodes.done) return yield* exitWith(code)
}, Effect.scoped)
