/**
 * The program that stands in for a shell on macOS: the profile is that of `@anthropic-ai/sandbox-runtime`, from our policy.
 * Its text is tested, it was never run on a Mac (docs/decisions/0039-seatbelt-on-macos.md).
 */
import type { MacOSSandboxParams } from "@anthropic-ai/sandbox-runtime/dist/sandbox/macos-sandbox-utils.js"
import { hardenedSettings } from "@reprise/process"
import { withHardenedVariables } from "../git/gitProgram.ts"
import { isWithin, type Mount } from "../policy/mounts.ts"
import type { Policy } from "../policy/policy.ts"
import { alone, choosingPrograms, exported, ofShell, type ProgramPaths, shellHead, withholding } from "./shellScript.ts"
import { quoted } from "./shellWords.ts"

const isHidden = ({ as }: Mount) => as === "hidden-file" || as === "hidden-folder"

const pathsOf = (mounts: ReadonlyArray<Mount>) => [...new Set(mounts.map(({ path }) => path))]

/**
 * What Seatbelt is told. There are no mounts: a folder that lies elsewhere inside, such as `/tmp`, is named by a variable.
 * Undefined: the library's profile cannot say it, since something hidden lies in what is shown again of a hidden folder, or
 * something that may be written in a folder that is hidden within what may be written.
 */
export const seatbeltRules = (
  policy: Policy
): Pick<MacOSSandboxParams, "needsNetworkRestriction" | "readConfig" | "writeConfig"> | undefined => {
  const own = policy.mounts.filter(({ from }) => from === undefined)
  const hidden = pathsOf(own.filter(isHidden))
  const shown = pathsOf(own.filter((mount) => !isHidden(mount)))
  const writable = [...pathsOf(own.filter(({ as }) => as === "writable")), policy.temporary]
  const shownAgain = [...shown, policy.temporary].filter((path) => hidden.some((one) => isWithin(path, one)))
  const hiddenInWritable = hidden.filter((path) => writable.some((one) => isWithin(path, one)))
  if (hidden.some((path) => shownAgain.some((one) => isWithin(path, one)))) return undefined
  if (writable.some((path) => hiddenInWritable.some((one) => isWithin(path, one)))) return undefined
  // What is seen around a writable folder is written nowhere else anyway.
  const kept = shown.filter((path) => !writable.some((one) => isWithin(one, path)))
  return {
    // Nothing is allowed: neither a name nor a socket.
    needsNetworkRestriction: true,
    readConfig: { denyOnly: hidden, allowWithinDeny: shownAgain },
    writeConfig: { allowOnly: writable, denyWithinAllow: [...kept, ...hiddenInWritable, ...policy.kept] }
  }
}

/** Begins a line; the words that follow run in the sandbox. Fails where a policy cannot be expressed. `writable`: in place of its. */
const entering = async (policy: Policy, writable?: ReadonlyArray<string>): Promise<string> => {
  const rules = seatbeltRules(policy)
  if (rules === undefined)
    throw new Error(
      "Seatbelt's profile cannot say what sandbox.deny, sandbox.read and sandbox.write want of folders in each other."
    )
  const { wrapCommandWithSandboxMacOS } = await import(
    "@anthropic-ai/sandbox-runtime/dist/sandbox/macos-sandbox-utils.js"
  )
  const writes = writable === undefined ? {} : { writeConfig: { allowOnly: [...writable], denyWithinAllow: [] } }
  return wrapCommandWithSandboxMacOS({ ...rules, ...writes, command: '"$0" "$@"', binShell: "/bin/sh" })
}

interface SeatbeltOptions {
  readonly policy: Policy
  /** A folder that comes before the `PATH` of commands. */
  readonly ahead?: string
  readonly shell: string
  readonly programs: ProgramPaths
  readonly chosenEnvironment: boolean
}

/** Fails where a policy cannot be expressed. Gives the text of a program that takes `-c COMMAND` as a shell does. */
export const seatbeltShell = async ({
  ahead,
  chosenEnvironment,
  policy,
  programs,
  shell
}: SeatbeltOptions): Promise<string> => {
  const entered = await entering(policy)
  const temporary = { TMPDIR: policy.temporary, TEMP: policy.temporary, TMP: policy.temporary }
  const variables = { ...policy.environment, ...temporary, ...ofShell(shell) }
  // The library sets a temporary folder of its own choosing before it enters.
  const again = Object.entries({ ...programs.inTree.variables, ...temporary }).map(
    ([name, value]) => `${name}=${quoted(value)}`
  )
  return [
    shellHead,
    chosenEnvironment ? "" : withholding,
    choosingPrograms(programs),
    exported(variables),
    `${alone}\n`,
    `${entered} /usr/bin/env PATH=${ahead === undefined ? "" : quoted(`${ahead}:`)}"$inside" ${again.join(" ")} ${quoted(shell)} "$@"\n`
  ].join("")
}

/** A program that is git in the sandbox, where it writes a clone alone. */
export const seatbeltGit = async (git: string, policy: Policy, clone: string): Promise<string> =>
  [
    shellHead,
    withholding,
    withHardenedVariables(policy.environment),
    `${await entering(policy, [clone])} ${[git, ...hardenedSettings].map(quoted).join(" ")} "$@"\n`
  ].join("")
