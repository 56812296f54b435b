// @module-tag long
/** A run whose hosts have no checkout: they clone a git remote, and push each finished phase. */
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { ActorConfig, JetStreamBroker, Broker as Transcripts } from "@reprise/actor"
import { Nats } from "@reprise/nats"
import { canSandbox } from "@reprise/sandbox/testing"
import { Broker, localBroker } from "@reprise/testing"
import { Effect } from "effect"
import { correct, heldInReview, once, plan, script } from "../harness/modelScript.ts"
import { makeWorld, type World } from "../harness/World.ts"
import { waitUntil } from "../harness/waitUntil.ts"

const deciders = ["orchestrator", "reviewer", "gate"]
/** Clones are below a folder that commands may not read; the run's own is shown to them all the same. */
const inSandbox: Readonly<Record<string, string>> = (await canSandbox()) ? { REPRISE_SANDBOX_MODE: "required" } : {}
const workers = ["session-manager", "workspace"]

/** The world's repository with a remote to which it is pushed. */
const withRemote = (world: World) => {
  const path = join(world.root, "..", "remote.git")
  execFileSync("git", ["clone", "--quiet", "--bare", "--", world.root, path], { stdio: "pipe" })
  world.git("remote", "add", "origin", `file://${path}`)
  return {
    url: `file://${path}`,
    git: (...args: ReadonlyArray<string>): string =>
      execFileSync("git", ["--git-dir", path, ...args], { encoding: "utf8" }).trimEnd()
  }
}

/** Services in a folder of their own that is not a repository, as in containers. */
const serve = Effect.fnUntraced(function* (
  world: World,
  url: string,
  host: string,
  services: ReadonlyArray<string>,
  more: Readonly<Record<string, string>> = {}
) {
  const directory = join(world.root, "..", host)
  const data = join(directory, "data")
  mkdirSync(directory, { recursive: true })
  const environment = { XDG_DATA_HOME: data, REPRISE_HOST: host, ...more }
  const started = yield* Effect.forEach(services, (service) =>
    world.startIn({ directory, environment }, "serve", service, "--nats", url)
  )
  for (const process of started) yield* process.waitFor(/is ready/)
  return {
    clones: join(data, "reprise", "repositories"),
    end: Effect.forEach(started, (process) => process.kill("SIGTERM"), { concurrency: "unbounded" }),
    /** Its processes are killed, and its disk is gone. */
    destroy: Effect.gen(function* () {
      for (const process of started) yield* process.kill("SIGKILL")
      rmSync(directory, { recursive: true, force: true, maxRetries: 20 })
    })
  }
})

/** Every saved part of every conversation. */
const savedText = (url: string) =>
  Effect.gen(function* () {
    const { transcripts } = yield* Transcripts
    const names = yield* transcripts.list("session/")
    return (yield* Effect.forEach(names, (name) => transcripts.get(name))).join("\n")
  }).pipe(
    Effect.provide(JetStreamBroker.layer),
    Effect.provide(Nats.layer({ url, name: "test" })),
    Effect.provide(ActorConfig.layer()),
    Effect.scoped
  )

const errorOf = ({ code, stdout }: { readonly code: number | null; readonly stdout: string }) => {
  const { error } = JSON.parse(stdout)
  return `${code} ${error.code}: ${error.message} ${error.hint}`
}

describe("reprise run --remote", () => {
  it.live(
    "has hosts without a checkout do the plan on a branch of their own, and push each phase when it is verified",
    () =>
      Effect.gen(function* () {
        const world = yield* makeWorld({ plan: plan("One", "Two"), script: heldInReview })
        const remote = withRemote(world)
        const { url } = yield* Broker
        const { clones, end } = yield* serve(world, url, "here", [...deciders, ...workers], inSandbox)
        const head = world.git("rev-parse", "HEAD")
        const run = yield* world.start("run", "PLAN.md", "--remote", "origin", "--nats", url)
        yield* world.model.awaitHeld("in-review")
        assert.strictEqual(remote.git("branch", "--list", "reprise/*"), "", "nothing is pushed before it is verified")
        const open = JSON.parse((yield* world.reprise("status", "--json", "--nats", url)).stdout).data[0]
        assert.deepStrictEqual(open.remote, { url: remote.url, ref: "main" })
        assert.deepStrictEqual([open.workspace, open.branch], ["", "reprise/plan"])
        assert.isTrue(open.directory.startsWith(clones))
        const shown = yield* world.reprise("status", open.runId, "--nats", url)
        assert.include(shown.stdout.replaceAll(/\s+/g, " "), "remote.git, branch reprise/plan, in ", shown.stderr)
        yield* world.model.release("in-review")
        const ended = yield* run.ended
        assert.strictEqual(ended.code, 0, ended.stderr)
        const subjects = remote.git("log", "--format=%s", "reprise/plan").split("\n")
        assert.deepStrictEqual(subjects, ["Write phase-2.txt", "Write phase-1.txt", "Start"])
        const events = (yield* world.reprise("logs", open.runId, "--json", "--nats", url)).stdout
        assert.lengthOf(events.match(/"pushed":"reprise\/plan"/g) ?? [], 2)
        // The user's own tree and branches are as they were, and the host keeps nothing that is pushed.
        assert.deepStrictEqual([world.git("status", "--porcelain"), world.git("rev-parse", "HEAD")], ["", head])
        assert.strictEqual(world.git("branch", "--list"), "* main")
        assert.isFalse(existsSync(open.directory))
        yield* end
      }).pipe(Effect.provide(localBroker))
  )

  it.live("goes on elsewhere with what its author and its reviewer had said, also in the turn that was under way", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({
        plan: plan("One"),
        script: script(
          once({ role: "reviewer", kind: "report" }, correct("Name the colour")),
          once({ role: "author", kind: "work", lastUser: "Review cycle 1" }, [
            { bash: "echo the cause is a race" },
            { hold: "in-fix", bash: "touch lost.txt" },
            { text: "Done." }
          ])
        )
      })
      const remote = withRemote(world)
      const { url } = yield* Broker
      const nats = ["--json", "--nats", url]
      const first = yield* serve(world, url, "first", workers, { REPRISE_SESSIONS_SAVE_EVERY_MS: "100" })
      yield* serve(world, url, "deciders", deciders)
      const run = yield* world.start("run", "PLAN.md", "--remote", "origin", "--nats", url)
      yield* world.model.awaitHeld("in-fix")
      const saved = Effect.map(savedText(url), (texts) => texts.includes("the cause is a race"))
      yield* waitUntil(Effect.map(saved, (isSaved) => (isSaved ? true : undefined)))
      yield* first.destroy
      const forgotten = JSON.parse((yield* world.reprise("hosts", "forget", "first", ...nats)).stdout).data
      const [runId] = forgotten.moved
      const before = (yield* world.model.calls).length
      yield* serve(world, url, "second", workers)
      const ended = yield* run.ended
      assert.strictEqual(ended.code, 0, ended.stderr)
      assert.include(ended.stderr, "Host first is gone: the run moves elsewhere")
      assert.strictEqual(remote.git("log", "--format=%s", "reprise/plan"), "Write phase-1.txt\nStart")

      const prompts = (yield* world.model.calls)
        .slice(before)
        .filter(({ kind, round }) => kind === "work" && round === 0)
      const promptOf = (role: string) => prompts.filter((call) => call.role === role).map(({ lastUser }) => lastUser)
      const [author] = promptOf("author")
      assert.match(
        author ?? "",
        /^You are the author of phase 1[\s\S]*begins again on another host, because host first is gone/
      )
      assert.include(author, "the cause is a race")
      assert.include(author, "Name the colour")
      const [reviewer] = promptOf("reviewer")
      assert.match(
        reviewer ?? "",
        /^You are the reviewer of phase 1[\s\S]*The host on which you were the reviewer of this phase is gone/
      )
      assert.include(reviewer, "I have read it.")

      const events = (yield* world.reprise("logs", runId, ...nats)).stdout
      assert.lengthOf(events.match(/"type":"SessionReplaced"[^\n]*host first is gone/g) ?? [], 2)
      assert.lengthOf(events.match(/"type":"SessionCreated"/g) ?? [], 2)
    }).pipe(Effect.provide(localBroker))
  )

  it.live(
    "goes on elsewhere when its host is drained: once its phase is pushed, without anything being lost or done twice",
    () =>
      Effect.gen(function* () {
        const world = yield* makeWorld({ plan: plan("One", "Two"), script: heldInReview })
        const remote = withRemote(world)
        const { url } = yield* Broker
        const nats = ["--json", "--nats", url]
        const dataOf = (...args: ReadonlyArray<string>) =>
          Effect.map(world.reprise(...args, ...nats), ({ stdout }) => JSON.parse(stdout))
        const drainedHosts = Effect.map(dataOf("hosts", "list"), ({ data }) =>
          data.map((host: { host: string; hosted: boolean; drainedAt?: string }) => ({
            [host.host]: `${host.hosted ? "works" : "gone"}${host.drainedAt === undefined ? "" : ", drained"}`
          }))
        )
        yield* serve(world, url, "deciders", deciders)
        const first = yield* serve(world, url, "first", workers)
        const run = yield* world.start("run", "PLAN.md", "--remote", "origin", "--nats", url)
        yield* world.model.awaitHeld("in-review")
        const [{ directory, runId }] = (yield* dataOf("status")).data

        assert.match(errorOf(yield* world.reprise("hosts", "drain", "nobody", ...nats)), /^2 unknown-host: /)
        const drained = (yield* dataOf("hosts", "drain", "first", "--no-wait")).data
        assert.deepInclude(drained, { host: "first", drained: true, sessions: [] })
        assert.deepStrictEqual(drained.runs, [{ runId, status: "running", fate: "leaves" }])
        assert.deepStrictEqual(yield* drainedHosts, [{ first: "works, drained" }])

        const second = yield* serve(world, url, "second", workers)
        const draining = yield* world.start("hosts", "drain", "first", "--nats", url)
        yield* draining.waitFor(/moves elsewhere once phase 1 is finished and pushed/)
        yield* world.model.release("in-review")
        const done = yield* draining.ended
        assert.strictEqual(done.code, 0, done.stderr)
        const told = done.stderr.replaceAll(/\s+/g, " ")
        assert.include(told, `Host first has taken no new runs since ${drained.drainedAt}`)
        assert.include(told, `Run ${runId} has left`)
        assert.include(told, "Host first is drained, and can be stopped: it has no open run and no session.")

        const ended = yield* run.ended
        assert.strictEqual(ended.code, 0, ended.stderr)
        assert.include(ended.stderr, "Host first is drained: the run moves elsewhere")
        const subjects = remote.git("log", "--format=%s", "reprise/plan").split("\n")
        assert.deepStrictEqual(subjects, ["Write phase-2.txt", "Write phase-1.txt", "Start"])
        const events = (yield* world.reprise("logs", runId, "--json", "--nats", url)).stdout.split("\n")
        const phases = events.filter((line) => line.includes('"type":"PhaseStarted"'))
        assert.lengthOf(phases, 2)
        const prepared = events.flatMap((line) => line.match(/"type":"WorkspacePrepared".*"host":"(\w+)"/)?.[1] ?? [])
        assert.deepStrictEqual(prepared, ["first", "second"])
        yield* waitUntil(Effect.sync(() => (existsSync(directory) ? undefined : true)))

        yield* first.end
        const gone = errorOf(yield* world.reprise("hosts", "drain", "first", ...nats))
        assert.match(gone, /^3 host-gone: .*'reprise hosts forget first'/)
        const again = yield* serve(world, url, "first", workers)
        assert.deepStrictEqual(yield* drainedHosts, [{ first: "works, drained" }, { second: "works" }])
        assert.deepStrictEqual((yield* dataOf("hosts", "drain", "first", "--undo")).data, {
          host: "first",
          drained: false
        })
        assert.deepStrictEqual(yield* drainedHosts, [{ first: "works" }, { second: "works" }])
        assert.match(errorOf(yield* world.reprise("hosts", "drain", "first", "--json")), /^2 one-machine: /)
        yield* Effect.all([again.end, second.end], { concurrency: "unbounded" })
      }).pipe(Effect.provide(localBroker))
  )

  it.live("refuses what hosts could not get, before anything is spent, and says what to do", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({ openCode: "shared", plan: plan("One"), script: { rules: [] } })
      const remote = withRemote(world)
      const { url } = yield* Broker
      const started = (...args: ReadonlyArray<string>) =>
        Effect.map(world.reprise("run", "PLAN.md", "--json", ...args), errorOf)
      const nats = ["--nats", url]
      assert.match(yield* started("--remote", "origin"), /^2 remote-without-nats: .*--worktree/)
      assert.match(yield* started("--ref", "main", ...nats), /^2 ref-without-remote: /)
      assert.match(yield* started("--remote", "upstream", ...nats), /^2 remote-unknown: .* 'upstream'.*git remote/)
      const withLogin = yield* started("--remote", "https://me:word@example.org/a", ...nats)
      assert.match(withLogin, /^2 remote-invalid: .* contains a login.*REPRISE_GIT_CREDENTIALS_FILE/)
      assert.notInclude(withLogin, "word")
      assert.match(
        yield* started("--remote", "/srv/app.git", ...nats),
        /^2 remote-invalid: .*'file:\/\/\/srv\/app\.git'/
      )
      assert.match(yield* started("--remote", `${remote.url}-none`, ...nats), /^3 remote-unreachable: /)
      assert.match(yield* started("--remote", "origin", "--ref", "none", ...nats), /^3 ref-missing: .*'none'/)
      writeFileSync(join(world.root, "PLAN.md"), plan("Another"))
      assert.match(yield* started("--remote", "origin", ...nats), /^3 plan-not-committed: .*git push/)
      world.git("commit", "--quiet", "--all", "--message", "Another plan")
      assert.match(yield* started("--remote", "origin", ...nats), /^3 not-pushed: .*Push yours/)
      assert.match(
        yield* started("--remote", "origin", "--ref", "main", ...nats),
        /^3 other-plan: .*push the plan there/
      )
      world.git("checkout", "--quiet", "--detach")
      assert.match(
        yield* started("--remote", "origin", ...nats),
        /^3 not-pushed: The commit .* no branch that was pushed/
      )
      writeFileSync(join(world.root, "NEW.md"), plan("New"))
      const untracked = errorOf(yield* world.reprise("run", "NEW.md", "--json", "--remote", "origin", ...nats))
      assert.match(untracked, /^3 plan-not-committed: NEW\.md/)
      assert.deepStrictEqual(yield* world.model.calls, [])
    }).pipe(Effect.provide(localBroker))
  )
})
