/** `reprise agents probe AGENT`: tries an agent in an empty folder, where a turn would run it, and says what it can. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import {
  AgentRuntime,
  agentOfCommand,
  installHint,
  layerAcp,
  locateAcp,
  namedAgents,
  type ProbeFinding,
  probeAgent,
  runtimeNamed
} from "@reprise/agent"
import { commandOf, commandProblem, parseCommand } from "@reprise/agent/acpCommand"
import { endLeftovers } from "@reprise/process"
import { Sandbox } from "@reprise/sandbox"
import { Effect, Layer, Logger, Option } from "effect"
import { loadConfig } from "../../config/loadConfig.ts"
import type { Settings } from "../../config/settingsTable.ts"
import { findProject } from "../../project/findProject.ts"
import { findRepository } from "../../project/Project.ts"
import { allowanceOf } from "../../system/agents/runtimes.ts"
import { coversAgents, holdsAgents, requireSandboxed, sandboxOf } from "../../system/agents/sandbox.ts"
import { exitWith, missing, wrongUse } from "../../terminal/CliFailure.ts"
import { exitCodes } from "../../terminal/exitCodes.ts"
import { data, okJson, say } from "../../terminal/Printer.ts"
import { isInteractive, readYes } from "../../terminal/readLine.ts"
import { visibleLine } from "../../terminal/visible.ts"
import { requireTrusted } from "../../trust/requireTrust.ts"
import { sandboxSettings } from "../../trust/trustedSettings.ts"
import { table } from "../../views/table.ts"

interface Flags {
  readonly agent: string
  readonly model: Option.Option<string>
  readonly yes: boolean
  readonly json: boolean
}

/** The command that a name stands for, or that was typed. */
const meant = Effect.fnUntraced(function* (agent: string) {
  const command = commandOf(runtimeNamed(agent) ?? agent)
  if (command === undefined) {
    const names = namedAgents.map(({ name }) => name).join(", ")
    return yield* wrongUse(
      "unknown-agent",
      `There is no agent '${visibleLine(agent.slice(0, 80))}'.`,
      `Name one of ${names}, or acp:COMMAND.`
    )
  }
  const problem = commandProblem(command)
  if (problem !== undefined) return yield* wrongUse("unknown-agent", `${problem}.`, "No shell reads the command.")
  return command
})

const requireInstalled = Effect.fnUntraced(function* (command: string) {
  const program = yield* locateAcp(command, process.env)
  if (program !== undefined) return
  const known = agentOfCommand(command)
  return yield* missing(
    "agent-missing",
    `There is no program ${visibleLine(parseCommand(command).program)} on the PATH.`,
    known === undefined ? "Install it, or give its absolute path." : `Install it with '${installHint(known)}'.`
  )
})

const requireConsent = Effect.fnUntraced(function* (command: string, { json, yes }: Flags) {
  if (yes) return
  if (!isInteractive({ json })) {
    return yield* wrongUse(
      "needs-consent",
      "A probe calls the agent's model a few times, which may cost money.",
      "Add --yes."
    )
  }
  say(
    `This starts '${visibleLine(command)}' in an empty folder, with your own login, and calls its model about four times.`
  )
  if (yield* readYes("Go on? [y/N] ")) return
  say("Nothing was started.")
  return yield* exitWith(exitCodes.aborted)
})

/** The settings of the repository here, as far as they are trusted; outside of one those that hold everywhere. */
const settingsHere = Effect.fnUntraced(function* (folder: string) {
  const repository = yield* Effect.option(findRepository(process.cwd()))
  if (Option.isNone(repository)) return (yield* loadConfig(folder)).settings
  const project = yield* findProject(process.cwd())
  const config = yield* loadConfig(project.root)
  yield* requireTrusted(project, config, ["permissions", ...sandboxSettings])
  return config.settings
})

const emptyFolder = Effect.acquireRelease(
  Effect.sync(() => realpathSync(mkdtempSync(join(tmpdir(), "reprise-probe-")))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
)

/** The sandbox has a state of its own too, so that a Reprise at work here is not disturbed. */
const runtimeIn = (command: string, settings: Settings, stateDirectory: string) => {
  const runtime = layerAcp({ command, stateDirectory, allowed: allowanceOf(settings) })
  const project = { root: stateDirectory, directory: stateDirectory }
  return coversAgents(settings) ? runtime.pipe(Layer.provideMerge(sandboxOf({ project, settings }))) : runtime
}

const probed = Effect.fnUntraced(function* (command: string, model: string | undefined) {
  const folder = yield* emptyFolder
  const directory = join(folder, "work")
  const stateDirectory = join(folder, "state")
  for (const one of [directory, stateDirectory]) mkdirSync(one)
  const settings = yield* settingsHere(folder)
  return yield* Effect.gen(function* () {
    const { standing } = yield* Sandbox
    yield* requireSandboxed(`acp:${command}`, settings, standing)
    const findings = yield* probeAgent({ runtime: yield* AgentRuntime, directory, stateDirectory, model })
    return { findings, inSandbox: holdsAgents(standing) }
  }).pipe(
    Effect.provide(runtimeIn(command, settings, stateDirectory)),
    // What it had started when it was killed continues by itself.
    Effect.ensuring(endLeftovers(`REPRISE_ACP_STATE=${stateDirectory}`))
  )
}, Effect.scoped)

const meanings: Readonly<Record<ProbeFinding["step"], string>> = {
  start: "starts",
  prompt: "answers a prompt",
  resume: "continues after kill -9",
  cancel: "can be cancelled"
}

export const probe = Effect.fn("probe")(function* (flags: Flags) {
  const command = yield* meant(flags.agent)
  yield* requireInstalled(command)
  yield* requireConsent(command, flags)
  // It writes no log: there is no repository, and what was seen is the output.
  const { findings, inSandbox } = yield* probed(command, Option.getOrUndefined(flags.model)).pipe(
    Effect.provide(Logger.layer([]))
  )
  const isGood = findings.every(({ result }) => result === "yes")
  if (flags.json) okJson({ runtime: `acp:${command}`, inSandbox, findings })
  else {
    data(
      table(
        ["", "", "what was seen"],
        findings.map(({ detail, result, step }) => [meanings[step], result, visibleLine(detail)])
      )
    )
    say(`It ran ${inSandbox ? "in the sandbox as a whole" : "outside of the sandbox"}, as an agent does here.`)
    const known = agentOfCommand(command)
    if (!isGood && known !== undefined)
      say(`It gets its login by: ${known.login}. docs/agents.md says what works with which agent.`)
  }
  return isGood ? undefined : yield* exitWith(exitCodes.missing)
})
