/** Runs whose code comes from a git remote, on hosts that have no checkout. */
import { existsSync } from "node:fs"
import { mkdir, readdir, utimes, writeFile } from "node:fs/promises"
import { join } from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer } from "@effect/vitest"
import { RunId } from "@reprise/protocol"
import { startGitServer } from "@reprise/testing"
import { Effect, Layer } from "effect"
import { WorkspaceFiles } from "../src/work/files/WorkspaceFiles.ts"
import { Git } from "../src/work/git/Git.ts"
import { GitDirectory } from "../src/work/git/GitDirectory.ts"
import { Leases } from "../src/work/leases/Leases.ts"
import { host, inMemory } from "./support/brokers.ts"
import { newHost, remote, work } from "./support/remoteHosts.ts"
import { at, temporaryDirectory } from "./support/repository.ts"

const r2 = RunId.make("r2")

const parts = Layer.mergeAll(Git.layer, GitDirectory.layer, WorkspaceFiles.layer).pipe(
  Layer.provideMerge(NodeServices.layer)
)
const services = Leases.layer.pipe(Layer.provideMerge(inMemory), Layer.provideMerge(parts))

layer(services, { excludeTestServices: true })("a run of a git remote", (it) => {
  it.effect("gets a worktree on its own branch, from the default branch, and pushes each finished phase", () =>
    Effect.gen(function* () {
      const { bare, somebody, url } = yield* remote
      const one = yield* newHost()
      const { event, place, tree } = yield* one.prepared({ url })
      assert.strictEqual(event.branch, "reprise/plan")
      assert.strictEqual(event.head, yield* somebody.git("rev-parse", "HEAD"))
      assert.isTrue(place.directory.startsWith(`${one.folder}/app-`))
      assert.strictEqual(yield* tree.git("status", "--porcelain"), "")
      const commit = yield* work(tree, "a.txt")
      assert.strictEqual(yield* bare.git("branch", "--list", "reprise/*"), "")
      const finished = yield* one.finish(place, commit)
      assert.deepStrictEqual(
        [finished._tag, finished._tag === "PhaseFinished" ? finished.pushed : ""],
        ["PhaseFinished", "reprise/plan"]
      )
      assert.strictEqual(yield* bare.git("rev-parse", "reprise/plan"), commit)
      // Again, as after a crash.
      assert.deepStrictEqual(yield* one.finish(place, commit), finished)
      assert.strictEqual(yield* bare.git("rev-parse", "main"), yield* somebody.git("rev-parse", "HEAD"))
    })
  )

  it.effect("begins from a branch, a tag or a commit that is named, also one that is newer than the clone", () =>
    Effect.gen(function* () {
      const { somebody, url } = yield* remote
      const one = yield* newHost()
      yield* one.prepared({ url, run: RunId.make("first") })
      yield* somebody.git("checkout", "--quiet", "-b", "feature/x")
      const onBranch = yield* work(somebody, "b.txt")
      const tagged = yield* work(somebody, "c.txt")
      yield* somebody.git("tag", "v1")
      yield* work(somebody, "d.txt")
      yield* somebody.git("push", "--quiet", "origin", "feature/x", "v1")
      const tip = yield* somebody.git("rev-parse", "HEAD")
      for (const [n, ref, head] of [
        [1, "feature/x", tip],
        [2, "v1", tagged],
        [3, onBranch, onBranch]
      ] as const) {
        const planPath = `plan-${n}.md`
        yield* somebody.git("checkout", "--quiet", "--detach", ref)
        yield* somebody.write(planPath, "# Plan\n")
        const commit = yield* somebody.commit("plan")
        yield* somebody.git("push", "--quiet", "origin", `${commit}:refs/heads/with-plan-${n}`)
        const { tree } = yield* one.prepared({ url, ref: commit, planPath, run: RunId.make(`run-${n}`) })
        assert.strictEqual(yield* tree.git("rev-parse", "HEAD~1"), head)
      }
    })
  )

  it.effect("goes on where another host has pushed, whatever became of that host", () =>
    Effect.gen(function* () {
      const { url } = yield* remote
      const [one, other] = [yield* newHost(), yield* newHost()]
      const first = yield* one.prepared({ url })
      const commit = yield* work(first.tree, "a.txt")
      yield* one.finish(first.place, commit)
      const second = yield* other.prepared({ url, run: r2 })
      assert.strictEqual(second.event.head, commit)
      const next = yield* work(second.tree, "b.txt")
      yield* other.finish(second.place, next)
      // And back again: the first host's branch is behind, in the worktree that it kept.
      yield* one.release(first.place, "aborted")
      const third = yield* one.prepared({ url, run: RunId.make("r3") })
      assert.deepStrictEqual([third.event.head, third.event.branch], [next, "reprise/plan"])
      assert.strictEqual(third.place.directory, first.place.directory)
      assert.strictEqual(yield* third.tree.git("status", "--porcelain"), "")
    }).pipe(Effect.provide(Layer.fresh(inMemory)))
  )

  it.effect("counts its first phase from what the remote has, whatever another run has put on its branch here", () =>
    Effect.gen(function* () {
      const { somebody, url } = yield* remote
      const pushed = yield* somebody.git("rev-parse", "HEAD")
      const one = yield* newHost()
      const other = yield* one.prepared({ url, run: RunId.make("other") })
      yield* other.tree.git("checkout", "--quiet", "-b", "reprise/plan-b")
      yield* other.tree.write("plan-b.md", "# Plan\n")
      const unseen = yield* work(other.tree, "backdoor")
      yield* other.tree.git("checkout", "--quiet", "reprise/plan")
      const { event } = yield* one.prepared({ url, planPath: "plan-b.md", run: r2 })
      assert.containSubset(event, { head: unseen, base: pushed })
    })
  )

  it.effect.each(["main", undefined])(
    "begins at what the remote itself names, whatever another run has the clone's refs say of the remote: from %s",
    (ref) =>
      Effect.gen(function* () {
        const { somebody, url } = yield* remote
        yield* somebody.write("plan-b.md", "# Plan\n")
        const pushed = yield* somebody.commit("plan b")
        yield* somebody.git("push", "--quiet", "origin", "main")
        const one = yield* newHost()
        const { place, tree } = yield* one.prepared({ url, run: RunId.make("other") })
        yield* tree.git("checkout", "--quiet", "-b", "reprise/z")
        const unseen = yield* work(tree, "backdoor")
        yield* tree.git("checkout", "--quiet", "reprise/plan")
        for (const name of ["reprise/plan-b", "HEAD"]) {
          yield* tree.git("symbolic-ref", `refs/remotes/origin/${name}`, "refs/heads/reprise/z")
        }
        // So that git cannot put it back.
        yield* Effect.promise(() => mkdir(join(place.root, ".git/refs/remotes/origin/HEAD.lock")))
        const { event } = yield* one.prepared({
          ...{ url, planPath: "plan-b.md", run: r2 },
          ...(ref === undefined ? {} : { ref })
        })
        assert.strictEqual(event.head, pushed)
        assert.isUndefined(event.base)
        assert.strictEqual(yield* tree.git("rev-parse", "origin/HEAD"), pushed)
        assert.strictEqual(yield* tree.git("rev-parse", "reprise/z"), unseen)
      })
  )

  it.effect("is refused where this host and the remote have other commits on its branch, and nothing is lost", () =>
    Effect.gen(function* () {
      const { bare, url } = yield* remote
      const [one, other] = [yield* newHost(), yield* newHost()]
      const here = yield* one.prepared({ url })
      const unpushed = yield* work(here.tree, "here.txt")
      yield* one.release(here.place)
      assert.isTrue(existsSync(here.place.directory), "an unpushed commit keeps its worktree")
      const there = yield* other.prepared({ url, run: r2 })
      const pushed = yield* work(there.tree, "there.txt")
      yield* other.finish(there.place, pushed)
      assert.match(
        yield* one.refused({ url, run: RunId.make("r3") }),
        /^other: The branch reprise\/plan has other commits on this host .* Merge or remove one of them/
      )
      assert.strictEqual(yield* here.tree.git("rev-parse", "HEAD"), unpushed)
      assert.strictEqual(yield* bare.git("rev-parse", "reprise/plan"), pushed)
    })
  )

  it.effect(
    "begins from what was pushed on a host that had it before it was declared gone, and keeps what was there",
    () =>
      Effect.gen(function* () {
        const { url } = yield* remote
        const [one, other] = [yield* newHost(), yield* newHost()]
        const first = yield* one.prepared({ url })
        const unreviewed = yield* work(first.tree, "unreviewed.txt")
        yield* first.tree.write("left.txt", "x")
        yield* one.release(first.place, "aborted")
        const second = yield* other.prepared({ url, leaving: host })
        const pushed = yield* work(second.tree, "b.txt")
        yield* other.finish(second.place, pushed)
        yield* other.release(second.place)
        const back = yield* one.prepared({ url, leaving: host })
        assert.strictEqual(back.event.head, pushed)
        assert.strictEqual(yield* back.tree.git("status", "--porcelain"), "")
        const kept = (yield* Effect.promise(() => readdir(join(back.place.directory, "..")))).find((name) =>
          name.startsWith("r1-left-")
        )
        const aside = at(join(back.place.directory, "..", kept ?? "none"))
        assert.strictEqual(yield* aside.git("rev-parse", "HEAD"), unreviewed)
        assert.include(yield* aside.git("status", "--porcelain"), "left.txt")
      })
  )

  it.effect("begins again from what it names once its earlier branch was merged, removed at the remote or not", () =>
    Effect.gen(function* () {
      const { bare, somebody, url } = yield* remote
      const one = yield* newHost()
      const first = yield* one.prepared({ url })
      yield* one.finish(first.place, yield* work(first.tree, "a.txt"))
      yield* one.release(first.place)
      yield* somebody.git("fetch", "--quiet", "origin")
      yield* somebody.git("merge", "--quiet", "--no-ff", "-m", "Merge", "origin/reprise/plan")
      const merged = yield* work(somebody, "later.txt")
      yield* somebody.git("push", "--quiet", "origin", "main")
      const second = yield* one.prepared({ url, run: r2 })
      assert.strictEqual(second.event.head, merged)
      const again = yield* newHost()
      yield* bare.git("update-ref", "-d", "refs/heads/reprise/plan")
      assert.strictEqual((yield* again.prepared({ url, run: RunId.make("r3") })).event.head, merged)
    })
  )

  it.effect("does not touch the tree in which another run works", () =>
    Effect.gen(function* () {
      const { url } = yield* remote
      const [one, other] = [yield* newHost(), yield* newHost()]
      const live = yield* one.prepared({ url })
      const elsewhere = yield* other.prepared({ url, run: r2 })
      yield* other.finish(elsewhere.place, yield* work(elsewhere.tree, "b.txt"))
      assert.match(yield* one.refused({ url, run: RunId.make("r3") }), /^in-use: /)
      assert.strictEqual(yield* live.tree.git("rev-parse", "HEAD"), live.event.head)
    })
  )

  it.effect("never takes commits from the remote: a push that is refused says why, and can be asked for again", () =>
    Effect.gen(function* () {
      const { bare, somebody, url } = yield* remote
      const one = yield* newHost()
      const { place, tree } = yield* one.prepared({ url })
      const commit = yield* work(tree, "a.txt")
      const foreign = yield* work(somebody, "foreign.txt")
      yield* somebody.git("push", "--quiet", "origin", `${foreign}:refs/heads/reprise/plan`)
      const fault = yield* Effect.flip(one.finish(place, commit))
      assert.match(fault.message, /^git push failed .*rejected/s)
      assert.strictEqual(yield* bare.git("rev-parse", "reprise/plan"), foreign)
      yield* bare.git("update-ref", "-d", "refs/heads/reprise/plan")
      assert.strictEqual((yield* one.finish(place, commit))._tag, "PhaseFinished")
    })
  )

  it.effect("leaves nothing on the host when all of it is pushed", () =>
    Effect.gen(function* () {
      const { url } = yield* remote
      const one = yield* newHost()
      const { place, tree } = yield* one.prepared({ url })
      yield* one.finish(place, yield* work(tree, "a.txt"))
      yield* one.release(place)
      assert.isFalse(existsSync(place.directory))
    })
  )

  it.effect("goes on in its worktree while the remote is away", () =>
    Effect.gen(function* () {
      const { bare, path, url } = yield* remote
      const one = yield* newHost()
      const { place } = yield* one.prepared({ url })
      yield* Effect.promise(() => writeFile(join(place.directory, "left.txt"), "x"))
      yield* at(join(path, "..")).git("-c", "alias.move=!mv app.git gone.git", "move")
      const again = yield* one.prepared({ url }, place)
      assert.strictEqual(again.place.directory, place.directory)
      assert.isFalse(existsSync(bare.root))
    })
  )

  it.effect("says what is wrong with a remote, a ref or a plan, and begins once it is there", () =>
    Effect.gen(function* () {
      const { path, somebody, url } = yield* remote
      const one = yield* newHost()
      const cases = [
        [{ url: "http://example.org/a" }, /^other: The remote 'http:\/\/example.org\/a' is not encrypted/],
        [{ url: "https://me:word@example.org/a" }, /^other: The remote 'https:\/\/…@example.org\/a' contains a login/],
        [{ url: `ext::sh -c "touch ${one.folder}/pwned"` }, /^other: The remote .* contains a space/],
        [{ url: `${url}-none` }, /^other: This host cannot get .*-none': git clone failed .*does not/s],
        [{ url, ref: "no-such-branch" }, /^other: '.*' has no branch, tag or commit 'no-such-branch'\. Push it first/],
        [{ url, ref: "--upload-pack=id" }, /^other: .* has no branch, tag or commit/],
        [{ url, planPath: "other.md" }, /^other: There is no plan other\.md/],
        [{ url, planPath: "../../../outside.md" }, /^outside: /]
      ] as const
      for (const [wanted, reason] of cases) assert.match(yield* one.refused(wanted), reason)
      assert.deepStrictEqual(
        (yield* Effect.promise(() => readdir(one.folder))).filter((name) => name === "pwned" || name.endsWith(".new")),
        []
      )
      yield* somebody.write("other.md", "# Other\n")
      yield* somebody.commit("other plan")
      yield* somebody.git("push", "--quiet", "--", path, "main")
      assert.strictEqual((yield* one.prepared({ url, planPath: "other.md" })).event.branch, "reprise/other")
    })
  )

  it.effect("does not use what a process left that was killed while it cloned, and removes it in time", () =>
    Effect.gen(function* () {
      const { url } = yield* remote
      const one = yield* newHost()
      const { place } = yield* one.prepared({ url })
      const name = place.directory.slice(one.folder.length + 1).split("/")[0] ?? ""
      const fresh = yield* newHost()
      const [old, young] = [`${name}.1.new`, `${name}.2.new`]
      yield* Effect.promise(async () => {
        for (const draft of [old, young]) await mkdir(join(fresh.folder, draft, ".git"), { recursive: true })
        const yesterday = new Date(Date.now() - 24 * 60 * 60_000)
        await utimes(join(fresh.folder, old), yesterday, yesterday)
      })
      yield* fresh.prepared({ url, run: r2 })
      assert.sameMembers(yield* Effect.promise(() => readdir(fresh.folder)), [name, young])
    })
  )

  it.effect("two runs that begin at once on one host share the clone", () =>
    Effect.gen(function* () {
      const { somebody, url } = yield* remote
      yield* somebody.write("second.md", "# Second\n")
      yield* somebody.commit("second plan")
      yield* somebody.git("push", "--quiet", "origin", "main")
      const one = yield* newHost()
      const [a, b] = yield* Effect.all([one.prepared({ url }), one.prepared({ url, run: r2, planPath: "second.md" })], {
        concurrency: 2
      })
      assert.deepStrictEqual([a.event.branch, b.event.branch], ["reprise/plan", "reprise/second"])
      assert.lengthOf(yield* Effect.promise(() => readdir(one.folder)), 1)
    })
  )

  it.effect("logs in at a server with the files that the host names, and says so when it may not", () =>
    Effect.gen(function* () {
      const { path } = yield* remote
      const folder = join(path, "..")
      yield* at(path).git("config", "http.receivepack", "true")
      const login = { user: "me", password: "not for logs" }
      const server = yield* startGitServer({ folder, ...login })
      const files = yield* temporaryDirectory
      const url = server.urlOf("app.git")
      const [authority, credentials] = [join(files, "ca.crt"), join(files, "credentials")]
      yield* Effect.promise(async () => {
        await writeFile(authority, server.cert)
        await writeFile(credentials, `https://me:${encodeURIComponent(login.password)}@localhost:${server.port}\n`)
      })
      const environment = { PATH: process.env.PATH, HOME: files, REPRISE_GIT_CA_FILE: authority }
      const stranger = yield* newHost(environment)
      const reason = yield* stranger.refused({ url })
      assert.match(reason, /^other: This host cannot get 'https:\/\/localhost:\d+\/app\.git': git clone failed/)
      assert.isAbove(server.refused(), 0)
      const known = yield* newHost({ ...environment, REPRISE_GIT_CREDENTIALS_FILE: credentials })
      const { place, tree } = yield* known.prepared({ url })
      const commit = yield* work(tree, "a.txt")
      yield* known.finish(place, commit)
      assert.strictEqual(yield* at(path).git("rev-parse", "reprise/plan"), commit)
      assert.notInclude(yield* tree.git("config", "--list"), login.password)
    })
  )

  it.effect("is tried again while the server cannot be reached", () =>
    Effect.gen(function* () {
      const one = yield* newHost()
      const fault = yield* one.failed({ url: "https://127.0.0.1:9/app.git" })
      assert.strictEqual(fault._tag === "GitFault" && fault.transient, true, fault.message)
    })
  )
})
