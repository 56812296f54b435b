/** For tests: what a try to get out of the sandbox is, and how the machine shows that it worked. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { canary, type Scene } from "./scene.ts"

export interface Escape {
  readonly title: string
  readonly command: (scene: Scene) => string
  /** Whether the machine shows that it worked. `output`: all that the command printed. */
  readonly escaped: (scene: Scene, output: string) => boolean
  /** A folder of the workspace in which somebody outside looks with git afterwards. */
  readonly folder?: string
  /** Set where no other try can share its command. */
  readonly alone?: true
}

const saysCanary = (_: Scene, output: string): boolean => output.includes(canary)
export const read = (title: string, command: Escape["command"]): Escape => ({ title, command, escaped: saysCanary })

export const has = (path: string, text = canary) => existsSync(path) && readFileSync(path, "utf8").includes(text)

export const written = (title: string, command: Escape["command"], place: (scene: Scene) => string): Escape => ({
  title,
  command,
  escaped: (scene) => has(place(scene))
})

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Empty for a process that has ended meanwhile. */
const commandLineOf = (pid: string): string => {
  try {
    return readFileSync(join("/proc", pid, "cmdline"), "utf8")
  } catch {
    return ""
  }
}

/** `seconds` tells the sleeping processes of a scene and a try from all others. */
export const survives = (title: string, digit: number, command: (seconds: string) => string): Escape => {
  const secondsOf = ({ port }: Scene) => `3599.${port}${digit}`
  return {
    title,
    command: (scene) => command(secondsOf(scene)),
    escaped: (scene) =>
      readdirSync("/proc").some((pid) => /^\d+$/.test(pid) && commandLineOf(pid) === `sleep\0${secondsOf(scene)}\0`)
  }
}

export const kills = (title: string, command: Escape["command"]): Escape => ({
  title,
  command,
  escaped: ({ victim }) => !isAlive(victim)
})
