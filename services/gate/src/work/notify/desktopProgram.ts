/** The program by which this machine's desktop shows notices. */
import { commandEnvironment, findProgram } from "@reprise/process"
import { Effect } from "effect"
import { type DesktopNotice, notifySendArguments, osascriptArguments } from "../../notify/desktopNotice.ts"

type Environment = Readonly<Record<string, string | undefined>>

export interface DesktopProgram {
  readonly path: string
  readonly argumentsOf: (notice: DesktopNotice) => ReadonlyArray<string>
  /** What the program needs to find the desktop. */
  readonly environment: Readonly<Record<string, string>>
}

type Found =
  | { readonly _tag: "Found"; readonly program: DesktopProgram }
  /** `hint`: the next step, without its full stop. */
  | { readonly _tag: "Missing"; readonly reason: string; readonly hint: string }

const desktopVariables = ["DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY"]

/** Notify-send refuses letters that the locale of its environment does not have. */
const environmentOf = (environment: Environment) => ({
  ...commandEnvironment(environment, desktopVariables),
  LC_ALL: "C.UTF-8"
})

const programs: Partial<
  Record<NodeJS.Platform, { readonly name: string; readonly hint: string } & Pick<DesktopProgram, "argumentsOf">>
> = {
  linux: {
    name: "notify-send",
    hint: "Install it (the package libnotify-bin of Debian and Ubuntu, libnotify elsewhere)",
    argumentsOf: notifySendArguments
  },
  darwin: { name: "osascript", hint: "Add /usr/bin to the PATH", argumentsOf: osascriptArguments }
}

/** Nothing is started. */
export const findDesktopProgram = Effect.fn("findDesktopProgram")(function* (
  environment: Environment,
  platform: NodeJS.Platform = process.platform
) {
  const program = programs[platform]
  if (program === undefined) {
    const reason = "the preset desktop is for Linux and macOS"
    return { _tag: "Missing", reason, hint: "Choose another preset" } satisfies Found as Found
  }
  const { argumentsOf, hint, name } = program
  const path = yield* findProgram(name, environment)
  if (path === undefined) {
    return { _tag: "Missing", reason: `there is no program ${name} on the PATH`, hint } satisfies Found as Found
  }
  return {
    _tag: "Found",
    program: { path, argumentsOf, environment: environmentOf(environment) }
  } satisfies Found as Found
})
