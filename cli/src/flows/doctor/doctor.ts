/** `reprise doctor`: checks everything a run needs; exit code 3 if something is broken. */
import { Effect, Option } from "effect"
import { configFile, loadConfig } from "../../config/loadConfig.ts"
import { findProject } from "../../project/findProject.ts"
import type { Project } from "../../project/Project.ts"
import type { ClientFlags } from "../../system/clientSystem.ts"
import { type CliFailure, exitWith } from "../../terminal/CliFailure.ts"
import { exitCodes } from "../../terminal/exitCodes.ts"
import { data, okJson } from "../../terminal/Printer.ts"
import { checkAcp } from "./acp.ts"
import { checkBroker } from "./broker.ts"
import { broken, type Finding, findingsTable, ok } from "./findings.ts"
import { checkModels } from "./models.ts"
import { checkClaude, checkGit, checkNode, checkOpenCode, checkServerBinary } from "./programs.ts"
import { replay } from "./replay.ts"
import { checkDisk, checkFirstCommit, checkGitPrograms, checkIdentity, checkRepository } from "./repository.ts"
import { checkSandbox } from "./sandbox.ts"

interface Flags extends ClientFlags {
  readonly fix: boolean
  /** Asks the models of a run for one word. */
  readonly askModels: boolean
  /** The run whose journals are replayed, in place of the checks. */
  readonly replay: Option.Option<string>
}

const ofFailure = (check: string, { hint, message }: CliFailure): ReadonlyArray<Finding> => [
  broken(check, message, hint)
]

const checkConfigured = Effect.fnUntraced(function* (project: Project, { askModels, nats }: Flags) {
  const config = yield* Effect.result(loadConfig(project.root))
  if (config._tag === "Failure") return ofFailure("configuration", config.failure)
  const options = {
    project,
    settings: config.success.settings,
    ...(Option.isNone(nats) ? {} : { nats: nats.value })
  }
  const acp = yield* checkAcp(options, config.success)
  return [
    ok("configuration", `${configFile} and the environment are valid`),
    yield* checkSandbox(options),
    ...acp,
    // Asking starts the agent, which must be there and trusted.
    ...(acp.some(({ state }) => state === "broken") ? [] : yield* checkModels(options, askModels)),
    ...(yield* checkBroker(options, config.success))
  ]
})

const checkProject = Effect.fnUntraced(function* (flags: Flags) {
  const project = yield* Effect.result(findProject(process.cwd()))
  if (project._tag === "Failure") return ofFailure("repository", project.failure)
  return [
    yield* checkRepository(project.success),
    yield* checkFirstCommit(project.success),
    yield* checkIdentity(project.success),
    ...(yield* checkGitPrograms(project.success)),
    yield* checkDisk(project.success),
    ...(yield* checkConfigured(project.success, flags))
  ]
})

const checkAll = Effect.fn("doctor")(function* (flags: Flags) {
  const findings: ReadonlyArray<Finding> = [
    yield* checkNode,
    yield* checkGit,
    yield* checkServerBinary(flags.fix),
    yield* checkOpenCode,
    yield* checkClaude,
    ...(yield* checkProject(flags))
  ]
  if (flags.json) okJson(findings)
  else data(findingsTable(findings))
  if (findings.some(({ state }) => state === "broken")) return yield* exitWith(exitCodes.missing)
})

export const doctor = (flags: Flags) =>
  Option.match(flags.replay, { onNone: () => checkAll(flags), onSome: (run) => replay({ ...flags, run }) })
