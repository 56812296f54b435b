/**
 * `reprise demo`: a real run with a scripted model, in a repository of its own. It needs no key, no network once the
 * programs are there, and no repository of the user's.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import type { EscalationView } from "@reprise/protocol"
import { openCodeSettings, startScriptedModel } from "@reprise/scripted-model"
import { Effect, Option } from "effect"
import { noRunFlags } from "../../config/serviceOptions.ts"
import { findProject } from "../../project/findProject.ts"
import { requireRuntime } from "../../system/agents/runtimes.ts"
import { exitWith, missing, wrongUse } from "../../terminal/CliFailure.ts"
import { exitCodes } from "../../terminal/exitCodes.ts"
import { PlainQuestions } from "../../terminal/fullScreen.ts"
import { color, say } from "../../terminal/Printer.ts"
import { isInteractive } from "../../terminal/readLine.ts"
import type { Answer } from "../../views/gate/GateModel.ts"
import { defaultProgress, withDisplay } from "../../views/live/Display.ts"
import { questionText } from "../../views/questionText.ts"
import { prepareRun } from "../run/prepareRun.ts"
import { startOrContinueRun } from "../run/startOrContinueRun.ts"
import { makeSampleRepository, planPath } from "./sampleRepository.ts"
import { script } from "./script.ts"

interface Flags {
  readonly directory: Option.Option<string>
  readonly noInput: boolean
  readonly plain: boolean
  readonly json: boolean
}

const guidance = "Esperanto"

/** The answer to the demo's only question. */
const demoAnswer =
  (json: boolean) =>
  (question: EscalationView): Answer => {
    if (!json) {
      say(`\n${questionText(question, Date.now())}`)
      say(color.cyan(`The demo answers for you: c, with the guidance '${guidance}'.`))
    }
    return { choice: "continue-session", guidance }
  }

const makeDirectory = Effect.fnUntraced(function* (given: Option.Option<string>) {
  if (Option.isNone(given)) return realpathSync(mkdtempSync(join(tmpdir(), "reprise-demo-")))
  const directory = resolve(given.value)
  if (existsSync(directory) && readdirSync(directory).length > 0) {
    return yield* wrongUse("not-empty", `${directory} is not empty.`, "Give a folder that does not exist yet.")
  }
  mkdirSync(directory, { recursive: true })
  return realpathSync(directory)
})

const makeRepository = (root: string) =>
  makeSampleRepository(root).pipe(
    Effect.mapError((cause) =>
      missing("git", `The sample repository cannot be made: ${cause.message}`, "Check that git works.", cause)
    )
  )

const startModel = (recordPath: string) =>
  startScriptedModel({ script, recordPath }).pipe(
    Effect.mapError((cause) =>
      missing("scripted-model", `The scripted model does not start: ${cause.message}`, "Try again.", cause)
    )
  )

export const demo = (flags: Flags) =>
  withDisplay({ ...flags, ...defaultProgress, asData: false, everyRun: false, idle: "Starting" }, play(flags)).pipe(
    Effect.provideService(PlainQuestions, flags.plain)
  )

const play = Effect.fn("demo")(function* (flags: Flags) {
  const directory = yield* makeDirectory(flags.directory)
  const root = join(directory, "greeter")
  const recordPath = join(directory, "model-calls.jsonl")
  yield* makeRepository(root)
  const terminal = isInteractive({ json: flags.json, noInput: flags.noInput })
  yield* requireRuntime("opencode", { openCodeUrl: undefined, terminal })
  const model = yield* startModel(recordPath)
  if (!flags.json) say(`This is a real run in ${root}: only the model is scripted.`)
  const project = yield* findProject(root)
  const prepared = yield* prepareRun(project, join(root, planPath), {}, noRunFlags)
  const code = yield* startOrContinueRun({
    ...prepared,
    answerer: isInteractive({ json: false, noInput: flags.noInput }) ? "terminal" : demoAnswer(flags.json),
    json: flags.json,
    openCodeEnvironment: openCodeSettings(join(directory, "opencode"), model.openaiUrl),
    locations: [["model calls", recordPath]]
  })
  if (!flags.json) {
    say(`In ${root}, 'reprise status' shows the run. In your own repository, start with 'reprise init'.`)
  }
  if (code !== exitCodes.done) return yield* exitWith(code)
}, Effect.scoped)
