/** `reprise doctor`: looks at everything a run needs; exit code 3 when something is broken. */
import { Effect, Option } from "effect"
import { configFile, loadConfig } from "../../config/loadConfig.ts"
import { findProject } from "../../project/Project.ts"
import { type CliFailure, exitCodes, exitWith } from "../../terminal/CliFailure.ts"
import { data, dataColor, dataColumns, okJson, visible } from "../../terminal/Printer.ts"
import { table } from "../../views/table.ts"
import { lookAtBroker } from "./broker.ts"
import { broken, type Finding, ok } from "./Finding.ts"
import { lookAtClaude, lookAtGit, lookAtNode, lookAtOpenCode, lookAtServerBinary } from "./programs.ts"
import { lookAtRepository } from "./repository.ts"

interface Flags {
  readonly json: boolean
  readonly fix: boolean
  readonly nats: Option.Option<string>
}

const ofFailure = (check: string) => (failure: CliFailure) => broken(check, failure.message, failure.hint)

/** Longer lines are hard to read. */
const widest = 120

const marks = { ok: dataColor.green("ok"), warning: dataColor.yellow("warning"), broken: dataColor.red("broken") }

const show = (findings: ReadonlyArray<Finding>): string =>
  table(
    ["what", "", "found"],
    findings.map(({ check, detail, next, state }) => [
      check,
      marks[state],
      visible(next === undefined ? detail : `${detail}\n→ ${next}`)
    ]),
    Math.min(dataColumns(), widest)
  )

export const doctor = Effect.fn("doctor")(function* (flags: Flags) {
  const findings: Array<Finding> = [
    yield* lookAtNode,
    yield* lookAtGit,
    yield* lookAtServerBinary(flags.fix),
    yield* lookAtOpenCode,
    yield* lookAtClaude
  ]
  const project = yield* Effect.result(findProject(process.cwd()))
  if (project._tag === "Failure") findings.push(ofFailure("repository")(project.failure))
  else {
    findings.push(yield* lookAtRepository(project.success))
    const config = yield* Effect.result(loadConfig(project.success.root, new Map()))
    if (config._tag === "Failure") findings.push(ofFailure("configuration")(config.failure))
    else {
      findings.push(ok("configuration", `${configFile} and the environment are understood`))
      findings.push(
        ...(yield* lookAtBroker({
          project: project.success,
          config: config.success,
          ...Option.match(flags.nats, { onNone: () => ({}), onSome: (nats) => ({ nats }) })
        }))
      )
    }
  }
  if (flags.json) okJson(findings)
  else data(show(findings))
  if (findings.some(({ state }) => state === "broken")) return yield* exitWith(exitCodes.missing)
})
