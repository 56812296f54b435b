/** Everything that a run needs, in one temporary folder: a repository with a plan, a scripted model, and the agents' state. */
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { locateServer } from "@reprise/nats"
import { EscalationView, RunView, SessionView } from "@reprise/protocol"
import {
  claudeSettings,
  openCodeConfig,
  openCodeSettings,
  type ScriptedModelHandle,
  type ScriptInput,
  startScriptedModel
} from "@reprise/scripted-model"
import { Effect, Schema, type Scope } from "effect"
import { type Bundle, bundle } from "./bundle.ts"
import { Command, type Ended, type Input, launcher } from "./Command.ts"
import { forgetRepository, type SharedOpenCode, sharedOpenCode } from "./sharedOpenCode.ts"
import { untilUnused } from "./untilUnused.ts"

export interface WorldOptions {
  readonly script: ScriptInput
  readonly plan: string
  /** `reprise.toml`, which is trusted. By default it lets agents do everything. */
  readonly config?: string
  /** More files, committed with the plan. */
  readonly files?: Readonly<Record<string, string>>
  /** More environment variables. `folder` holds the repository and everything beside it. */
  readonly environment?: (folder: string, model: ScriptedModelHandle) => Readonly<Record<string, string>>
  /**
   * `own` (default): Reprise starts a server for this world and stops it. `shared`: the world uses the server that all
   * tests share, by the setting `opencode.url`; for stories that break nothing, since a start costs more than a few turns.
   */
  readonly openCode?: "shared" | "own"
  /**
   * `bundle` (default): commands start from the bundle of the command line. `sources`: they start as users start them,
   * which takes three times as long.
   */
  readonly program?: "bundle" | "sources"
  /** The bundle to use. Default: that of the tests. */
  readonly bundle?: Bundle
  /** OpenCode records the files after each step, as it does by default. This doubles the cost of a turn. */
  readonly snapshots?: boolean
}

/** What differs from a command that is started in the world's repository, without standard input. */
export interface Surroundings {
  readonly directory?: string
  /** Added to the world's environment. */
  readonly environment?: Readonly<Record<string, string>>
  readonly input?: Input
}

export interface World {
  readonly root: string
  readonly model: ScriptedModelHandle
  readonly environment: NodeJS.ProcessEnv
  /** The shared OpenCode server, if the world uses it. */
  readonly openCode: SharedOpenCode | undefined
  readonly git: (...args: ReadonlyArray<string>) => string
  /** Starts a command; it is killed when the scope closes. */
  readonly start: (...args: ReadonlyArray<string>) => Effect.Effect<Command, never, Scope.Scope>
  /** The same in other surroundings. */
  readonly startIn: (
    surroundings: Surroundings,
    ...args: ReadonlyArray<string>
  ) => Effect.Effect<Command, never, Scope.Scope>
  /** Starts a command at a pseudo-terminal; it is killed when the scope closes. */
  readonly atTerminal: (...args: ReadonlyArray<string>) => Effect.Effect<Command, never, Scope.Scope>
  /** The same with a size, for a program that draws on the whole screen. */
  readonly onScreen: (...args: ReadonlyArray<string>) => Effect.Effect<Command, never, Scope.Scope>
  /** Runs a command and waits until it ends. */
  readonly reprise: (...args: ReadonlyArray<string>) => Effect.Effect<Ended>
  /** The same in other surroundings. */
  readonly repriseIn: (surroundings: Surroundings, ...args: ReadonlyArray<string>) => Effect.Effect<Ended>
  readonly runs: Effect.Effect<ReadonlyArray<RunView>>
  readonly questions: Effect.Effect<ReadonlyArray<EscalationView>>
  readonly sessions: Effect.Effect<ReadonlyArray<SessionView>>
  readonly eventsOf: (runId: string) => Effect.Effect<ReadonlyArray<PublicLine>>
}

export const PublicLine = Schema.StructWithRest(
  Schema.Struct({ type: Schema.String, time: Schema.String, id: Schema.String, runId: Schema.String }),
  [Schema.Record(Schema.String, Schema.Unknown)]
)
export type PublicLine = typeof PublicLine.Type

const readAnswer = Schema.decodeUnknownSync(
  Schema.fromJsonString(Schema.Struct({ ok: Schema.Literal(true), data: Schema.Unknown }))
)

const decodeLine = Schema.decodeUnknownSync(Schema.fromJsonString(PublicLine))

/** Makes a world in a temporary folder, which is removed when the scope closes. */
export const makeWorld = Effect.fn("makeWorld")(function* (options: WorldOptions) {
  const base = yield* Effect.acquireRelease(
    Effect.sync(() => realpathSync(mkdtempSync(join(tmpdir(), "reprise-world-")))),
    (folder) =>
      Effect.andThen(
        untilUnused(folder),
        Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
      )
  )
  const root = join(base, "repository")
  const files: Record<string, string> = {
    "PLAN.md": options.plan,
    "reprise.toml": options.config ?? 'permissions = "all"\n',
    ...options.files
  }
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), text)
  }
  const model = yield* startScriptedModel({ script: options.script })
  const server = yield* locateServer()
  const shared = options.openCode === "shared" ? yield* sharedOpenCode : undefined
  const packed = options.bundle ?? (yield* bundle)
  const environment: NodeJS.ProcessEnv = {
    PATH: process.env["PATH"],
    HOME: join(base, "home"),
    TERM: "dumb",
    // What differs where the sandbox can be used has tests of its own.
    REPRISE_SANDBOX_MODE: "off",
    REPRISE_NATS_SERVER: server.path,
    NODE_COMPILE_CACHE: packed?.compileCache ?? join(tmpdir(), "node-compile-cache"),
    ...(shared === undefined
      ? openCodeSettings(base, model.openaiUrl, { snapshots: options.snapshots === true })
      : { REPRISE_OPENCODE_URL: shared.url, OPENCODE_SERVER_PASSWORD: shared.password }),
    ...claudeSettings(base, model.url),
    ...options.environment?.(base, model)
  }
  const git = (...args: ReadonlyArray<string>): string =>
    execFileSync("git", [...args], { cwd: root, encoding: "utf8", env: environment }).trimEnd()
  git("init", "--quiet", "--initial-branch=main")
  git("config", "user.name", "World")
  git("config", "user.email", "world@reprise.invalid")
  if (shared !== undefined) {
    // It is committed, so that the tree is clean and every worktree has it.
    writeFileSync(join(root, "opencode.json"), JSON.stringify(openCodeConfig(model.openaiUrl)))
    yield* Effect.addFinalizer(() => forgetRepository(shared, root))
  }
  git("add", "--all")
  git("commit", "--quiet", "--message", "Start")

  const command = (surroundings: Surroundings, args: ReadonlyArray<string>) =>
    new Command(
      options.program === "sources" ? launcher : (packed?.launcher ?? launcher),
      surroundings.directory ?? root,
      { ...environment, ...surroundings.environment },
      args,
      surroundings.input
    )
  const startIn = (surroundings: Surroundings, ...args: ReadonlyArray<string>) =>
    Effect.acquireRelease(
      Effect.sync(() => command(surroundings, args)),
      (started) => started.kill("SIGKILL")
    )
  const start = (...args: ReadonlyArray<string>) => startIn({}, ...args)
  const atTerminal = (...args: ReadonlyArray<string>) => startIn({ input: "terminal" }, ...args)
  const onScreen = (...args: ReadonlyArray<string>) => startIn({ input: "screen" }, ...args)
  const repriseIn = (surroundings: Surroundings, ...args: ReadonlyArray<string>) =>
    Effect.suspend(() => command(surroundings, args).ended)
  const reprise = (...args: ReadonlyArray<string>) => repriseIn({}, ...args)
  const read = <A>(data: Schema.Codec<A, unknown>, ...args: ReadonlyArray<string>) => {
    const decode = Schema.decodeUnknownSync(data)
    return reprise(...args, "--json").pipe(
      Effect.map(({ code, stderr, stdout }) => {
        if (code !== 0) throw new Error(`reprise ${args.join(" ")} exited with ${code}: ${stdout}${stderr}`)
        return decode(readAnswer(stdout).data)
      })
    )
  }
  if (options.config !== "") yield* reprise("trust")
  const world: World = {
    root,
    model,
    environment,
    openCode: shared,
    git,
    start,
    startIn,
    atTerminal,
    onScreen,
    reprise,
    repriseIn,
    runs: read(Schema.Array(RunView), "status"),
    questions: read(Schema.Array(EscalationView), "gate", "list"),
    sessions: read(Schema.Array(SessionView), "sessions", "list"),
    eventsOf: (runId) =>
      reprise("logs", runId, "--json").pipe(
        Effect.map(({ stdout }) =>
          stdout
            .split("\n")
            .filter((line) => line !== "")
            .map((line) => decodeLine(line))
        )
      )
  }
  return world
})
