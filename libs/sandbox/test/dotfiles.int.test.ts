/** A repository of settings: the user's shell, git and editor obey files of the workspace by links in the home folder. */
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { canary, canSandbox, type Scene, scene } from "../src/testing/index.ts"
import { during, runIn } from "./support/sandboxedScene.ts"

const sandboxed = await canSandbox()
interface Case {
  /** Of the workspace. */
  readonly file: string
  /** Below the home folder, and what it leads to in the workspace; absent: what `variables` says. */
  readonly link?: readonly [path: string, target: string]
  readonly isThere: boolean
  readonly variables?: (here: Scene) => Record<string, string>
}

const cases: Readonly<Record<string, Case>> = {
  "a startup file of a shell": { file: "dots/bashrc", link: [".zshrc", "dots/bashrc"], isThere: true },
  "one that is not there yet": { file: "dots/zshenv", link: [".zshenv", "dots/zshenv"], isThere: false },
  "a file in a folder of settings": { file: "dots/nvim/init.lua", link: [".config/nvim", "dots/nvim"], isThere: true },
  "a new file in one": { file: "dots/nvim/plugin/a.lua", link: [".config/nvim", "dots/nvim"], isThere: false },
  "a file in git's own folder": { file: "dots/git/config", link: [".config/git", "dots/git"], isThere: true },
  "what git's own folder could have": {
    file: "dots/git/attributes",
    link: [".config/git", "dots/git"],
    isThere: false
  },
  "a single file of a program": {
    file: "dots/alacritty.toml",
    link: [".config/alacritty/alacritty.toml", "dots/alacritty.toml"],
    isThere: true
  },
  "a startup file in a folder that a variable names": {
    file: "dots/zsh/.zshrc",
    isThere: false,
    variables: ({ workspace }) => ({ ZDOTDIR: join(workspace, "dots", "zsh") })
  },
  "a startup file where the workspace is the home folder": {
    file: ".profile",
    isThere: false,
    variables: ({ workspace }) => ({ HOME: workspace })
  },
  "settings where the workspace is the home folder": {
    file: ".config/program/settings",
    isThere: true,
    variables: ({ workspace }) => ({ HOME: workspace })
  },
  "a startup file that a variable names": {
    file: "dots/env.sh",
    isThere: true,
    variables: ({ workspace }) => ({ BASH_ENV: join(workspace, "dots", "env.sh") })
  }
}

describe.skipIf(!sandboxed)("a file of the workspace that programs of the user obey", () => {
  it.live("is not written by a command where the home folder has thousands of other files", () =>
    Effect.gen(function* () {
      const here = yield* scene
      const place = join(here.workspace, "omz", "oh-my-zsh.sh")
      mkdirSync(dirname(place))
      writeFileSync(place, "mine\n")
      symlinkSync(dirname(place), join(here.home, ".oh-my-zsh"))
      for (let n = 0; n < 1100; n++) writeFileSync(join(here.home, `file${n}`), "")
      yield* during(here, (sandbox) => runIn(here, sandbox, `echo ${canary} >> omz/oh-my-zsh.sh`))
      assert.strictEqual(readFileSync(place, "utf8"), "mine\n")
    })
  )

  it.live.each(Object.entries(cases))("is not written by a command: %s", ([, { file, isThere, link, variables }]) =>
    Effect.gen(function* () {
      const here = yield* scene
      const place = join(here.workspace, file)
      if (isThere) {
        mkdirSync(dirname(place), { recursive: true })
        writeFileSync(place, "mine\n")
      } else mkdirSync(join(here.workspace, dirname(link?.[1] ?? file)), { recursive: true })
      if (link !== undefined) {
        const [path, target] = link
        const from = join(here.home, path)
        mkdirSync(dirname(from), { recursive: true })
        rmSync(from, { recursive: true, force: true })
        if (!isThere && target !== file) mkdirSync(join(here.workspace, target), { recursive: true })
        symlinkSync(join(here.workspace, target), from)
      }
      const again = `mv dots out-dots; mkdir -p ${dirname(file)}; echo ${canary} > ${file}`
      const more = variables?.(here)
      const command = `touch out-ran; mkdir -p ${dirname(file)}; echo ${canary} > ${file}; ${again}`
      yield* during(here, (sandbox) => runIn(here, sandbox, command, more), more)
      assert.isTrue(existsSync(join(here.workspace, "out-ran")))
      assert.notInclude(existsSync(place) ? readFileSync(place, "utf8") : "", canary)
    })
  )

  it.live("is written where it is a program that the user starts by its name", () =>
    Effect.gen(function* () {
      const here = yield* scene
      mkdirSync(join(here.home, ".local", "bin"), { recursive: true })
      symlinkSync(join(here.workspace, "tools", "built"), join(here.home, ".local", "bin", "built"))
      yield* during(here, (sandbox) => runIn(here, sandbox, "echo built > tools/built"))
      assert.isTrue(existsSync(join(here.workspace, "tools", "built")))
    })
  )
})
