/** Repositories inside of a workspace: which of them are put aside, and what is said. */
import { execFileSync } from "node:child_process"
import { existsSync, lstatSync, mkdirSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { canSandbox, type Scene, scene } from "../src/testing/index.ts"
import { evil, identity, make } from "./support/nestedCommands.ts"
import { during, runIn } from "./support/sandboxedScene.ts"

const sandboxed = await canSandbox()
const isThere = ({ workspace }: Scene, name: string) => existsSync(join(workspace, name, ".git"))

describe.skipIf(!sandboxed)("a repository inside of a workspace", () => {
  it.live("stays as git and git-lfs make it", () =>
    Effect.gen(function* () {
      const here = yield* scene
      const clone = `git clone -q ${here.home}/other cloned`
      const branches = "git -C plain checkout -qb topic; git -C plain remote add origin https://example.org/a.git"
      const lfs = "git -C plain config filter.lfs.process 'git-lfs filter-process'"
      const said = yield* during(here, (sandbox) =>
        runIn(here, sandbox, `${make("plain")}; ${branches}; ${lfs}; ${clone}`)
      )
      assert.notInclude(said, "reprise:")
      assert.isTrue(isThere(here, "plain") && isThere(here, "cloned"))
    })
  )

  it.live("stays with submodules of any name and depth, worktrees, and a folder of git's elsewhere", () =>
    Effect.gen(function* () {
      const here = yield* scene
      const add = (folder: string, name: string) =>
        `git -C ${folder} -c protocol.file.allow=always submodule --quiet add --force ${here.home}/other ${name}`
      const own = ["übung", "a/b/c/d/e/f/g/h", "src/objects"]
      const nested = `${make("n")}; ${add("n", "s/ü")}; ${add("n/s/ü", "t")}; git -C n/s/ü worktree add -q ../../../w`
      const gone = `${add("n", "gone")}; rm -rf n/gone`
      const bare = "git init -q --bare fixture.git; git init -q --separate-git-dir=elsewhere apart"
      const commands = [...own.map((name) => add(".", name)), nested, gone, bare]
      const said = yield* during(here, (sandbox) =>
        runIn(here, sandbox, `${identity}; ${commands.join(" && ")}; ls -R n`)
      )
      assert.notInclude(said, "reprise:")
      for (const name of [...own, "n", "n/s/ü", "n/s/ü/t", "w", "apart"]) assert.isTrue(isThere(here, name), name)
      for (const folder of ["fixture.git", "elsewhere", "n/.git/modules/gone"]) {
        assert.isTrue(existsSync(join(here.workspace, folder, "HEAD")), folder)
      }
    })
  )

  it.live("with a configuration of its own is moved when its command ends, and the agent reads why", () =>
    Effect.gen(function* () {
      const here = yield* scene
      const said = yield* during(here, (sandbox) => runIn(here, sandbox, evil("made")))
      assert.match(said, /reprise: .*made\/\.git was moved to \.reprise\/sandbox\/refused: .*core\.fsmonitor/)
      assert.isFalse(isThere(here, "made"))
      assert.isTrue(readdirSync(join(here.stateDirectory, "sandbox", "refused")).some((name) => name.endsWith(".git")))
    })
  )

  it.live.each([
    ["a pointer", "mkdir n; echo gitdir: /proc/self/cwd/x > n/.git", "n/.git"],
    ["a pointer to a name by which the kernel knows it", "mkdir n; echo gitdir: /dev/fd/../cwd/x > n/.git", "n/.git"],
    ["a link by git's name", "mkdir n; ln -s /proc/self/cwd/x n/.git", "n/.git"],
    ["any link", "ln -s /proc/self/cwd l", "l"],
    ["a link through another one", "ln -s / top; ln -s top/proc/self/root l", "l"],
    ["a link to where such links are", "ln -s /dev l", "l"]
  ] as const)("is not looked for where %s leads each program elsewhere, which is moved", ([, command, path]) =>
    Effect.gen(function* () {
      const here = yield* scene
      const said = yield* during(here, (sandbox) => runIn(here, sandbox, command))
      assert.include(said, `${path} was moved`)
      assert.isUndefined(lstatSync(join(here.workspace, path), { throwIfNoEntry: false }))
    })
  )

  it.live.each(["a[b]", "back\\slash", "what?", "a*b"])("is not the workspace's own, where that is called %s", (name) =>
    Effect.gen(function* () {
      const outer = yield* scene
      const workspace = join(outer.home, name)
      execFileSync("cp", ["-R", outer.workspace, workspace])
      const here = { ...outer, workspace, stateDirectory: join(workspace, ".reprise") }
      mkdirSync(here.stateDirectory, { recursive: true })
      const said = yield* during(here, (sandbox) =>
        Effect.andThen(
          runIn(here, sandbox, `${identity}; git commit -q --allow-empty -m more; ${evil("made")}`),
          runIn(here, sandbox, "git log --oneline | wc -l")
        )
      )
      assert.isTrue(existsSync(join(workspace, ".git", "HEAD")))
      assert.isFalse(isThere(here, "made"))
      assert.match(said, /^3\b/m)
    })
  )

  it.live("is moved as the link that it is, and the repository that it leads to stays whole", () =>
    Effect.gen(function* () {
      const here = yield* scene
      execFileSync("/bin/sh", ["-c", make("theirs")], { cwd: here.home })
      const theirs = join(here.home, "theirs", ".git")
      const links = ["a", "b"].map((name) => `mkdir ${name}; ln -s ${theirs} ${name}/.git`)
      const own = `mkdir c; ln -s ${here.workspace}/.git c/.git`
      const said = yield* during(here, (sandbox) =>
        Effect.andThen(runIn(here, sandbox, evil("made")), runIn(here, sandbox, [...links, own].join("; ")))
      )
      assert.include(said, "c/.git was moved")
      for (const name of ["a", "c"]) assert.isFalse(isThere(here, name))
      for (const folder of [theirs, join(here.workspace, ".git")]) {
        const heads = readdirSync(folder).filter((name) => name.startsWith("HEAD"))
        assert.deepStrictEqual(heads, ["HEAD"], folder)
      }
      const refused = join(here.stateDirectory, "sandbox", "refused")
      const made = readdirSync(refused).filter((name) => existsSync(join(refused, name, "HEAD.refused")))
      assert.strictEqual(made.length, 1)
    })
  )

  it.live("is moved from a folder whose name is no text, also one without a working tree", () =>
    Effect.gen(function* () {
      const here = yield* scene
      const folder = `"$(printf 'f\\377')"`
      const bare = "git init -q --bare bare; git -C bare config core.fsmonitor ./run"
      const skill = "mkdir -p .claude/skills/x; echo hooks > .claude/skills/x/SKILL.md"
      const commands = `mkdir ${folder} && cd ${folder} && { ${evil("made")}; ${bare}; ${skill}; }`
      const said = yield* during(here, (sandbox) => runIn(here, sandbox, commands))
      const obeyed = ["-path", "*/made/.git", "-o", "-path", "*/bare/HEAD", "-o", "-path", "*/.claude/skills"]
      const find = ["-path", "*/.reprise", "-prune", "-o", "(", ...obeyed, ")", "-print"]
      assert.strictEqual(execFileSync("find", [here.workspace, ...find], { encoding: "utf8" }), "")
      assert.include(said, "a path that is no text")
    })
  )

  it.live("that the user made before stays while it says the same, and not when a command changed it", () =>
    Effect.gen(function* () {
      const here = yield* scene
      execFileSync("/bin/sh", ["-c", evil("mine")], { cwd: here.workspace })
      const [first, second] = yield* during(here, (sandbox) =>
        Effect.gen(function* () {
          const other = yield* runIn(here, sandbox, "git -C mine branch topic; echo > config")
          const kept = isThere(here, "mine")
          const changed = yield* runIn(here, sandbox, "git -C mine config core.pager ./run")
          return [
            { said: other, kept },
            { said: changed, kept: isThere(here, "mine") }
          ] as const
        })
      )
      assert.deepStrictEqual([first.kept, second.kept], [true, false])
      assert.notInclude(first.said, "reprise:")
      assert.match(second.said, /core\.pager/)
    })
  )

  it.live("that a killed process's agent made is no user's, and one that is made while nobody works is", () =>
    Effect.gen(function* () {
      const here = yield* scene
      const script = join(import.meta.dirname, "fixtures", "killedWatch.ts")
      mkdirSync(here.stateDirectory, { recursive: true })
      // It makes a repository after its last look, and is killed.
      execFileSync(process.execPath, [script, here.workspace, here.stateDirectory], {
        env: { ...process.env, HOME: here.home, COMMAND: evil("left") }
      })
      assert.isTrue(isThere(here, "left"))
      yield* during(here, (sandbox) => sandbox.tidy(here.workspace))
      assert.isFalse(isThere(here, "left"))
      execFileSync("/bin/sh", ["-c", evil("mine")], { cwd: here.workspace })
      yield* during(here, (sandbox) => sandbox.tidy(here.workspace))
      assert.isTrue(isThere(here, "mine"))
    })
  )

  it.live.each(["yes", "no"])(
    "is moved with the folders above it where its path is too long to be named, if its folder can be listed: %s",
    (isListed) =>
      Effect.gen(function* () {
        const here = yield* scene
        const name = "d".repeat(255)
        const made = `mkdir deep; ${evil("deep/y")}; chmod ${isListed === "yes" ? 700 : 0} deep/y`
        const deep = `${made}; for n in $(seq 20); do mkdir up; mv deep up/${name}; mv up deep; done`
        const said = yield* during(here, (sandbox) => runIn(here, sandbox, deep))
        assert.include(said, "a path too long to be looked at")
        const heads = execFileSync("find", [here.workspace, "-name", "HEAD", "-path", "*/y/*"], { encoding: "utf8" })
        assert.strictEqual(heads, "")
      })
  )

  it.live("keeps no agent in another workspace waiting, however many there are", () =>
    Effect.gen(function* () {
      const here = yield* scene
      const other = join(here.home, "another")
      mkdirSync(other)
      const many = `${evil("r0")}; for n in $(seq 60); do cp -r r0 r$n; git -C r$n config core.pager $n; done`
      execFileSync("/bin/sh", ["-c", many], { cwd: here.workspace })
      const first = yield* during(here, (sandbox) =>
        Effect.scoped(
          Effect.raceFirst(
            Effect.as(sandbox.occupy({ directory: here.workspace, role: "author", permissions: "ask" }), "many"),
            Effect.as(sandbox.occupy({ directory: other, role: "author", permissions: "ask" }), "other")
          )
        )
      )
      assert.strictEqual(first, "other")
    })
  )
})

const skill = (folder: string) =>
  `mkdir -p ${folder}/skills/x && echo 'hooks: {}' > ${folder}/skills/x/SKILL.md && echo more >> ${folder}/skills/x/run.sh`

describe.skipIf(!sandboxed)("skills of Claude in a folder of a workspace", () => {
  it.live.each([
    ["made", skill("packages/a/.claude"), "packages/a/.claude/skills"],
    [
      "prepared under another name by an earlier command",
      "mv packages/prepared packages/.claude",
      "packages/.claude/skills"
    ],
    ["behind a link", `${skill("real")}; ln -s real .claude-link; mkdir b; ln -s ../real b/.claude`, "b/.claude"]
  ] as const)("that a command %s are moved when it ends, and the agent reads why", ([, command, place]) =>
    Effect.gen(function* () {
      const here = yield* scene
      const said = yield* during(here, (sandbox) =>
        Effect.andThen(runIn(here, sandbox, skill("packages/prepared")), runIn(here, sandbox, command))
      )
      assert.include(said, `${place} was moved to .reprise/sandbox/refused`)
      assert.isUndefined(lstatSync(join(here.workspace, place), { throwIfNoEntry: false }))
    })
  )

  it.live("that the user made before stay while they say the same", () =>
    Effect.gen(function* () {
      const here = yield* scene
      const place = join(here.workspace, "mine", ".claude")
      execFileSync("/bin/sh", ["-c", skill("mine/.claude")], { cwd: here.workspace })
      const [before, after] = yield* during(here, (sandbox) =>
        Effect.gen(function* () {
          yield* runIn(here, sandbox, "touch mine/.claude/other")
          const stays = existsSync(join(place, "skills"))
          yield* runIn(here, sandbox, "echo evil >> mine/.claude/skills/x/run.sh")
          return [stays, existsSync(join(place, "skills"))] as const
        })
      )
      assert.deepStrictEqual([before, after], [true, false])
      assert.isTrue(existsSync(join(place, "other")))
    })
  )
})

describe.skipIf(!sandboxed)("a hook of a repository in a workspace", () => {
  it.live("is one too where the user's configuration has every repository look for hooks in its own tree", () =>
    Effect.gen(function* () {
      const here = yield* scene
      execFileSync("git", ["config", "--global", "core.hooksPath", ".own-hooks"], {
        env: { ...process.env, HOME: here.home }
      })
      const kept = yield* during(here, (sandbox) =>
        Effect.gen(function* () {
          yield* runIn(here, sandbox, make("plain"))
          const before = isThere(here, "plain")
          yield* runIn(
            here,
            sandbox,
            `${make("made")}; mkdir made/.own-hooks; echo evil > made/.own-hooks/post-checkout`
          )
          return [before, isThere(here, "made")]
        })
      )
      assert.deepStrictEqual(kept, [true, false])
    })
  )

  it.live("is another one when its bytes are others, however large it is", () =>
    Effect.gen(function* () {
      const here = yield* scene
      const large = "head -c 2000000 /dev/zero > mine/.git/hooks/pre-commit"
      execFileSync("/bin/sh", ["-c", `${make("mine")}; ${large}`], { cwd: here.workspace })
      const kept = yield* during(here, (sandbox) =>
        Effect.gen(function* () {
          yield* runIn(here, sandbox, "git -C mine branch topic")
          const before = isThere(here, "mine")
          yield* runIn(here, sandbox, "echo evil >> mine/.git/hooks/pre-commit")
          return [before, isThere(here, "mine")]
        })
      )
      assert.deepStrictEqual(kept, [true, false])
    })
  )
})
