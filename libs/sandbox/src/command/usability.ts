/** Whether the sandbox can be used on this machine, and if not, what to do. */
import { readFile } from "node:fs/promises"
import { findProgram, isProgram, runProgram } from "@reprise/process"
import { Effect } from "effect"
import { type Bubblewrap, isolation, readOnlySystem, startOf, takesPart } from "./bubblewrap.ts"
import { chooseEngine, type EngineHere } from "./engine.ts"

export interface Programs {
  /** Bubblewrap's own; Seatbelt is entered by a program of the system. */
  readonly bubblewrap?: Bubblewrap
  readonly shell: string
  readonly git: string
}

/** `reason`: a sentence for people, with what to install. */
export type Usability =
  | ({ readonly _tag: "usable"; readonly programs: Programs } & EngineHere)
  | { readonly _tag: "unusable"; readonly reason: string }

type Environment = Readonly<Record<string, string | undefined>>

const unusable = (reason: string): Usability => ({ _tag: "unusable", reason })

/** The user's shell where it reads commands as a POSIX shell does, as the agents' programs choose it. */
const shellOf = Effect.fnUntraced(function* (environment: Environment) {
  const own = environment["SHELL"] ?? ""
  if (/^\/.*\/(bash|zsh|dash|ksh|sh)$/.test(own) && (yield* isProgram(own))) return own
  return (yield* findProgram("bash", environment)) ?? "/bin/sh"
})

const commonPrograms = Effect.fnUntraced(function* (environment: Environment) {
  const git = (yield* findProgram("git", environment)) ?? "git"
  return { shell: yield* shellOf(environment), git }
})

const install =
  "Install it: 'apt-get install bubblewrap socat' on Debian and Ubuntu, 'dnf install bubblewrap socat' on Fedora."

const tryOut = (bubblewrap: Bubblewrap) => {
  const [program = bubblewrap.path, ...args] = startOf(bubblewrap)
  return runProgram({
    program,
    args: [...args, ...isolation, ...readOnlySystem, "--", "/bin/sh", "-c", ":"],
    environment: { PATH: "/usr/bin:/bin" },
    timeoutMs: 10_000
  }).pipe(
    Effect.map(({ exitCode, stderr }) =>
      exitCode === 0 ? undefined : stderr.trim().split("\n")[0] || `exit code ${exitCode}`
    ),
    Effect.catch(({ message }) => Effect.succeed(message))
  )
}

const whyRefused = (said: string): string =>
  /unknown option/i.test(said) && said.includes("disable-userns")
    ? "This bubblewrap is older than 0.8, which cannot keep a command from making namespaces of its own. Install a newer one."
    : `bubblewrap cannot separate processes here (${said}). In a container, allow it user namespaces, or let the container be the sandbox (docs/security.md); on Ubuntu, allow bwrap in AppArmor.`

/** Whether a program may debug others of its user that it has not started itself (Yama). */
const mayDebug = () =>
  readFile("/proc/sys/kernel/yama/ptrace_scope", "utf8").then(
    (scope) => scope.trim() === "0",
    () => true
  )

const takesPartHere = () => readFile("/proc/self/mountinfo", "utf8").then(takesPart, () => true)

/** The best first. A profile of AppArmor for bubblewrap may allow only the first one, and that of another program none. */
const waysOf = (path: string, unshare: string | undefined): ReadonlyArray<Bubblewrap> =>
  [true, false].flatMap((isEnclosed) => [
    ...(unshare === undefined ? [] : [{ path, isEnclosed, unshare }]),
    { path, isEnclosed }
  ])

/** Gives what the last one said if none works. */
const firstThatWorks = Effect.fnUntraced(function* (ways: ReadonlyArray<Bubblewrap>) {
  let said = ""
  for (const way of ways) {
    const refused = yield* tryOut(way)
    if (refused === undefined) return way
    said = refused
  }
  return said
})

const findBubblewrap = Effect.fnUntraced(function* (environment: Environment) {
  const path = yield* findProgram("bwrap", environment)
  if (path === undefined) return unusable(`bubblewrap is not installed. ${install}`)
  if ((yield* findProgram("socat", environment)) === undefined) return unusable(`socat is not installed. ${install}`)
  const found = yield* firstThatWorks(waysOf(path, yield* findProgram("unshare", environment)))
  if (typeof found === "string") return unusable(whyRefused(found))
  const programs = { bubblewrap: found, ...(yield* commonPrograms(environment)) }
  const canBeOutlived = !found.isEnclosed && (yield* Effect.promise(mayDebug))
  const seesLaterMounts = found.unshare === undefined && (yield* Effect.promise(takesPartHere))
  return { _tag: "usable", engine: "bubblewrap", programs, canBeOutlived, seesLaterMounts } satisfies Usability
})

const sandboxExec = "/usr/bin/sandbox-exec"

const findSeatbelt = Effect.fnUntraced(function* (environment: Environment) {
  const tried = yield* runProgram({
    program: sandboxExec,
    args: ["-p", "(version 1) (allow default)", "/usr/bin/true"],
    environment: { PATH: "/usr/bin:/bin" },
    timeoutMs: 10_000
  }).pipe(
    Effect.map(({ exitCode, stderr }) => (exitCode === 0 ? undefined : stderr.trim() || `exit code ${exitCode}`)),
    Effect.catch(({ message }) => Effect.succeed(message))
  )
  if (tried !== undefined) return unusable(`${sandboxExec} does not work here (${tried}).`)
  const programs = yield* commonPrograms(environment)
  return { _tag: "usable", engine: "seatbelt", programs } satisfies Usability
})

/** Tries the system's sandbox once. Takes some ten milliseconds. */
export const findUsability = Effect.fn("sandbox.findUsability")(function* (
  environment: Environment,
  {
    isRequired = false,
    platform = process.platform
  }: { readonly isRequired?: boolean; readonly platform?: string } = {}
): Effect.fn.Return<Usability> {
  const choice = chooseEngine(platform, isRequired)
  if (choice._tag === "none") return unusable(choice.reason)
  return yield* choice.engine === "bubblewrap" ? findBubblewrap(environment) : findSeatbelt(environment)
})
