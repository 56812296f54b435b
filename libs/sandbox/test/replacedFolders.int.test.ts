/** A mount ends when somebody outside removes the folder that it lies on: what a command can do, and read, then. */
import { execFileSync, spawn } from "node:child_process"
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync
} from "node:fs"
import { dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { layerSandbox, Sandbox } from "../src/index.ts"
import { canary, canSandbox, type Scene, scene } from "../src/testing/index.ts"
import { during, environmentOf, meanwhile, quietly, run, runIn, until } from "./support/sandboxedScene.ts"

const sandboxed = await canSandbox()

const git = (here: Scene, ...args: ReadonlyArray<string>) =>
  execFileSync("git", args, { cwd: here.workspace, env: environmentOf(here), stdio: "pipe", encoding: "utf8" })

/** A folder of hooks that git tracks, and a branch without any protected folder that git would have to empty. */
const furnished = Effect.gen(function* () {
  const here = yield* scene
  for (const [path, text] of Object.entries({
    ".husky/pre-commit": "true\n",
    ".husky/deep/own.sh": "true\n",
    ".vscode/extra/notes": "mine\n",
    ".vscode/tasks.json": "{}\n",
    ".github/hooks/own.json": "{}\n"
  })) {
    mkdirSync(join(here.workspace, path, ".."), { recursive: true })
    writeFileSync(join(here.workspace, path), text)
  }
  git(here, "add", "--force", ".")
  git(here, "commit", "-qm", "hooks")
  git(here, "branch", "with")
  git(here, "branch", "base", "HEAD~1")
  git(here, "checkout", "-qb", "without")
  git(here, "rm", "-rq", ".husky", ".vscode", ".claude", ".github")
  git(here, "commit", "-qm", "no hooks")
  git(here, "checkout", "-q", "base")
  git(here, "commit", "-q", "--allow-empty", "-m", "base")
  git(here, "checkout", "-q", "with")
  return here
})

/** What git does: the folder ends with its last file, and is made anew. */
const outAndBack = (here: Scene) => {
  git(here, "checkout", "-q", "without")
  git(here, "checkout", "-q", "with")
}

const remade = ({ workspace }: Scene, path: string) => {
  rmSync(join(workspace, path), { recursive: true })
  mkdirSync(join(workspace, path))
}

const refusedIn = ({ stateDirectory }: Scene): ReadonlyArray<string> => {
  const folder = join(stateDirectory, "sandbox", "refused")
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((one) =>
    one.isFile() ? [readFileSync(join(one.parentPath, one.name), "utf8")] : []
  )
}

const wordsOfHooks = "reprise: .*/.husky was replaced while a command ran"

/** What a command says during which something happens outside, and the scene. */
const replaced = (
  happens: (here: Scene) => void,
  command: string,
  prepare: (here: Scene) => unknown = () => undefined
) =>
  Effect.gen(function* () {
    const here = yield* furnished
    prepare(here)
    const said = yield* during(here, ({ shellFor }) =>
      Effect.flatMap(shellFor(here.workspace, "author"), (shell) =>
        meanwhile(here, shell, () => happens(here), command)
      )
    )
    return { here, said }
  })

const textOf = ({ workspace }: Scene, path: string) => {
  const place = join(workspace, path)
  return existsSync(place) ? readFileSync(place, "utf8") : undefined
}

const renamed = ({ workspace }: Scene, path: string) => {
  renameSync(join(workspace, path), join(workspace, "old"))
  mkdirSync(join(workspace, path))
}

describe.skipIf(!sandboxed)("a protected folder that is made anew while a command goes on", () => {
  it.live.each([
    ["by git", ".husky/pre-commit", "true\n", outAndBack],
    ["by git, which only reads it", ".claude/settings.json", "{}", outAndBack],
    ["twice", ".husky/pre-commit", "true\n", (here: Scene) => [outAndBack(here), outAndBack(here)]],
    ["at its name alone", ".husky/pre-commit", "true\n", (here: Scene) => renamed(here, ".husky")],
    ["with the folder above it", ".github/hooks/own.json", "{}\n", (here: Scene) => renamed(here, ".github")]
  ] as const)(
    "is the one from before when the command has ended, and nothing is lost: %s",
    ([, path, before, happens]) =>
      Effect.gen(function* () {
        const { here, said } = yield* replaced(happens, `mkdir -p ${dirname(path)}; echo '# ${canary}' >> ${path}`)
        assert.strictEqual(textOf(here, path), before)
        assert.isTrue(refusedIn(here).some((text) => text.includes(canary)))
        assert.match(said, /reprise: .*replaced while a command ran/)
        yield* during(here, (sandbox) => runIn(here, sandbox, `echo '# ${canary}' >> ${path}`))
        assert.strictEqual(textOf(here, path), before, "it is protected for the next command")
      })
  )

  it.live("stays protected where only a folder in it is made anew", () =>
    Effect.gen(function* () {
      const { here } = yield* replaced((here) => remade(here, ".husky/deep"), "echo evil > .husky/deep/own.sh")
      assert.isUndefined(textOf(here, ".husky/deep/own.sh"))
      assert.deepStrictEqual(refusedIn(here), [])
    })
  )

  it.live.each([
    ["checks out another branch and this one", outAndBack],
    [
      "stashes it",
      (here: Scene) => {
        git(here, "reset", "-q", "HEAD~1")
        git(here, "stash", "push", "-qu")
        git(here, "stash", "pop", "-q")
      }
    ],
    ["rebases it", (here: Scene) => git(here, "rebase", "-q", "base")]
  ] as const)("is git's, without a word, where it holds the same as before: git %s", ([, happens]) =>
    Effect.gen(function* () {
      const madeAt = ({ workspace }: Scene) => statSync(join(workspace, ".husky")).birthtimeMs
      const before: Array<number> = []
      const { here, said } = yield* replaced(happens, "true", (here) => before.push(madeAt(here)))
      assert.notInclude(before, madeAt(here))
      assert.notInclude(said, "reprise:")
      assert.deepStrictEqual(refusedIn(here), [])
      assert.strictEqual(textOf(here, ".husky/deep/own.sh"), "true\n")
    })
  )

  it.live.each([
    ["another file", "echo true > .husky/post-commit"],
    ["a file that can be run", "chmod +x .husky/pre-commit"],
    ["a file with a second name", "ln .husky/pre-commit mine"],
    ["a link", "ln -sf ../mine .husky/pre-commit"],
    ["a pipe", "mkfifo .husky/post-commit"],
    ["a folder that others may write", "chmod 777 .husky"]
  ] as const)("is not the one from before with %s in it", ([, command]) =>
    Effect.gen(function* () {
      const { here, said } = yield* replaced(outAndBack, command)
      assert.match(said, new RegExp(wordsOfHooks))
      const hook = lstatSync(join(here.workspace, ".husky/pre-commit"))
      assert.deepStrictEqual([hook.isFile(), hook.mode & 0o111, hook.nlink], [true, 0, 1])
      assert.deepStrictEqual(readdirSync(join(here.workspace, ".husky")).toSorted(), ["deep", "pre-commit"])
      assert.strictEqual(statSync(join(here.workspace, ".husky")).mode & 0o022, 0)
    })
  )

  it.live("is moved away where it is too large for a copy, and nothing is lost", () =>
    Effect.gen(function* () {
      const { here, said } = yield* replaced(
        (here) => renamed(here, ".husky"),
        `echo '# ${canary}' > .husky/pre-commit`,
        ({ workspace }) => writeFileSync(join(workspace, ".husky/large"), Buffer.alloc(17 * 1024 * 1024))
      )
      assert.isFalse(existsSync(join(here.workspace, ".husky")))
      assert.match(said, /There is no copy of the one from before/)
      assert.isTrue(refusedIn(here).some((text) => text.includes(canary)))
    })
  )

  it.live("is the one that the user made of it between two commands", () =>
    Effect.gen(function* () {
      const here = yield* furnished
      const hook = join(here.workspace, ".husky/pre-commit")
      const said = yield* during(here, ({ shellFor }) =>
        Effect.gen(function* () {
          const shell = yield* shellFor(here.workspace, "author")
          yield* run(here, shell, "true")
          writeFileSync(hook, "mine\n")
          git(here, "commit", "-qam", "mine")
          return yield* meanwhile(here, shell, () => outAndBack(here), `echo '# ${canary}' >> .husky/pre-commit`)
        })
      )
      assert.match(said, new RegExp(wordsOfHooks))
      assert.strictEqual(readFileSync(hook, "utf8"), "mine\n")
    })
  )

  it.live.each(["when its turn ends", "before the next command"])("is put back after a killed command %s", (moment) =>
    Effect.gen(function* () {
      const here = yield* furnished
      yield* during(here, (sandbox) =>
        Effect.gen(function* () {
          const shell = yield* sandbox.shellFor(here.workspace, "author")
          const wait = "touch out-begun; until [ -e out-happened ]; do sleep 0.02; done"
          const command = `${wait}; echo '# ${canary}' >> .husky/pre-commit; touch out-written; sleep 3600`
          const child = spawn(shell, ["-c", command], {
            cwd: here.workspace,
            env: environmentOf(here),
            detached: true,
            stdio: "ignore"
          })
          const ended = new Promise<void>((resolve) => child.once("close", () => resolve()))
          yield* until(() => existsSync(join(here.workspace, "out-begun")))
          outAndBack(here)
          writeFileSync(join(here.workspace, "out-happened"), "")
          yield* until(() => existsSync(join(here.workspace, "out-written")))
          process.kill(-(child.pid ?? 0), "SIGKILL")
          yield* Effect.promise(() => ended)
          assert.notStrictEqual(textOf(here, ".husky/pre-commit"), "true\n")
          if (moment === "when its turn ends") yield* sandbox.tidy(here.workspace)
          else assert.match(yield* run(here, shell, "true"), new RegExp(wordsOfHooks))
          assert.strictEqual(textOf(here, ".husky/pre-commit"), "true\n")
        })
      )
      assert.isTrue(refusedIn(here).some((text) => text.includes(canary)))
    })
  )

  it.live("is removed by no git that an agent's program starts outside", () =>
    Effect.gen(function* () {
      const here = yield* furnished
      const before = statSync(join(here.workspace, ".husky")).ino
      yield* during(here, ({ programsFor }) =>
        Effect.flatMap(programsFor(here.workspace, "author"), ({ git: folder }) =>
          run(here, "/bin/sh", `PATH=${folder}:$PATH git checkout -q without`)
        )
      )
      assert.strictEqual(statSync(join(here.workspace, ".husky")).ino, before)
    })
  )
})

describe.skipIf(!sandboxed)("a folder with keys that is made anew while a command goes on", () => {
  it.live.each([
    [".ssh/id_ed25519", ".ssh"],
    [".config/gh/hosts.yml", ".config/gh"],
    [".config/gh/hosts.yml", ".config"],
    [".config/Code/User/globalStorage/state", ".config/Code/User"],
    [".config/git/credentials", ".config/git"],
    [".local/share/keyrings/login.keyring", ".local/share/keyrings"],
    [".cache/huggingface/token", ".cache/huggingface"]
  ] as const)("cannot be read: %s, of which %s is another one", ([path, folder]) =>
    Effect.gen(function* () {
      const here = yield* scene
      const put = () => {
        mkdirSync(join(here.home, dirname(path)), { recursive: true })
        writeFileSync(join(here.home, path), canary)
      }
      put()
      const said = yield* during(here, ({ shellFor }) =>
        Effect.flatMap(shellFor(here.workspace, "author"), (shell) =>
          meanwhile(
            here,
            shell,
            () => {
              renameSync(join(here.home, folder), join(here.home, "moved"))
              rmSync(join(here.home, "moved"), { recursive: true })
              put()
            },
            `cat ${here.home}/${path}; grep -r ${canary} ${here.home}`
          )
        )
      )
      assert.notInclude(said, canary)
    })
  )

  it.live.each([".cargo/credentials.toml", ".config/gh/hosts.yml", ".config/pip/pip.conf"])(
    "cannot be read where there was none before: %s",
    (path) =>
      Effect.gen(function* () {
        const here = yield* scene
        rmSync(join(here.home, ".config/gh"), { recursive: true })
        for (const folder of [".cargo", ".config/pip"]) mkdirSync(join(here.home, folder), { recursive: true })
        const said = yield* during(here, ({ shellFor }) =>
          Effect.gen(function* () {
            const shell = yield* shellFor(here.workspace, "author")
            mkdirSync(join(here.home, dirname(path)), { recursive: true })
            writeFileSync(join(here.home, path), canary)
            return yield* run(here, shell, `cat ${here.home}/${path}; grep -r ${canary} ${here.home}`)
          })
        )
        assert.notInclude(said, canary)
      })
  )

  it.live("lies among folders that can be read, and what the settings show of it can be read, too", () =>
    Effect.gen(function* () {
      const here = yield* scene
      for (const [path, text] of Object.entries({
        ".config/tool/settings": "of tool",
        ".config/gh/config.yml": "of gh"
      })) {
        mkdirSync(join(here.home, dirname(path)), { recursive: true })
        writeFileSync(join(here.home, path), text)
      }
      const said = yield* Sandbox.use((sandbox) =>
        runIn(here, sandbox, "cat ~/.config/tool/settings ~/.config/gh/config.yml; cat ~/.config/gh/hosts.yml ~/.ssh/*")
      ).pipe(
        Effect.provide(
          layerSandbox({
            mode: "required",
            gates: true,
            settings: { write: [], read: ["~/.config/gh/config.yml"], deny: [], network: [] },
            stateDirectory: here.stateDirectory,
            environment: environmentOf(here)
          })
        ),
        quietly
      )
      assert.match(said, /^of toolof gh/)
      assert.notInclude(said, canary)
    })
  )
})
