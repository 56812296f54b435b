// @module-tag long
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { noTokens, uncachedTokens } from "@reprise/protocol"
import { Effect } from "effect"
import { startConsole } from "../harness/browser.ts"
import { signIn } from "../harness/consoleClient.ts"
import { commits, needsHuman, on, once, plan } from "../harness/modelScript.ts"
import { makeWorld, type World } from "../harness/World.ts"
import { waitForCommand } from "../harness/waitUntil.ts"

const task = "Write two files."
const done = { report: { result: "complete" } }

const world = makeWorld({
  plan: plan("One"),
  openCode: "shared",
  script: {
    rules: [
      once({ kind: "report" }, needsHuman("Which second file?")),
      on({ kind: "report" }, done),
      on({ lastUser: "Write it otherwise.", anyMessage: "like the first file" }, commits("leaked.txt", "later words")),
      on({ lastUser: "Write it otherwise.", anyMessage: task }, commits("fork.txt", "fork")),
      on({ lastUser: "Hold on.", anyMessage: task }, [{ hold: "fork", bash: "true" }, { text: "Held." }]),
      on({ lastUser: "the first file" }, commits("second.txt", "two")),
      on({}, commits("first.txt", "one"))
    ]
  }
})

const firstOf = ({ sessions }: World) =>
  Effect.map(sessions, ([original]) => {
    if (original === undefined) throw new Error("There is no session.")
    return original
  })

/** A session that waits for a human after its first turn. */
const parked = Effect.gen(function* () {
  const made = yield* world
  const started = yield* made.reprise("sessions", "start", task)
  assert.strictEqual(started.code, 4, started.stderr)
  return { ...made, original: yield* firstOf(made) }
})

/** A session of two turns, which has ended; each turn has made a commit. */
const twoTurns = Effect.gen(function* () {
  const made = yield* parked
  const [question] = yield* made.questions
  yield* made.reprise("gate", "answer", question?.escalationId ?? "", "c", "--guidance", "One like the first file.")
  const ended = yield* made.reprise("sessions", "start", task)
  assert.strictEqual(ended.code, 0, ended.stderr)
  return { ...made, original: yield* firstOf(made) }
})

/** Sends commands as somebody who has signed in to the console with the token. */
const signedIn = Effect.fnUntraced(function* (address: string, token: string) {
  const headers = yield* signIn(address, token)
  return (path: string, body: object) =>
    Effect.promise(async () => {
      const reply = await fetch(`${address}/api/${path}`, { method: "POST", headers, body: JSON.stringify(body) })
      return [reply.status, JSON.parse(await reply.text())] as const
    })
})

describe("reprise sessions fork", () => {
  it.live("begins with the conversation and the code after an earlier turn, and leaves the original as it is", () =>
    Effect.gen(function* () {
      const { git, model, original, reprise, root, sessions } = yield* twoTurns
      const [first, second] = original.pastTurns ?? []
      assert.deepStrictEqual([first?.turn, second?.turn], [1, 2])
      assert.strictEqual(first?.commit, git("rev-parse", "HEAD~1").trim())
      const before = (yield* model.calls).length

      const words = "Write it otherwise."
      const id = original.sessionId
      const forked = yield* reprise("sessions", "fork", id, words, "--at", "1", "--worktree")
      assert.strictEqual(forked.code, 0, forked.stderr)

      const calls = (yield* model.calls).slice(before)
      const [same, fork] = yield* sessions
      assert.deepStrictEqual(same, original)
      assert.deepInclude(fork, { status: "completed", forkedFrom: { sessionId: id, turn: 1 }, prompt: words, turns: 1 })
      const used = calls.length
      assert.strictEqual(fork?.calls, used, "what was used before is the original's")
      assert.isBelow(uncachedTokens(fork?.tokens ?? noTokens), uncachedTokens(original.tokens))

      const worktree = join(root, ".reprise", "worktrees", fork?.sessionId ?? "")
      assert.strictEqual(fork?.directory, worktree)
      assert.isTrue(existsSync(join(worktree, "first.txt")) && existsSync(join(worktree, "fork.txt")))
      assert.isFalse(existsSync(join(worktree, "second.txt")) || existsSync(join(root, "fork.txt")))
      assert.strictEqual(git("rev-parse", `reprise/${fork?.sessionId}~1`).trim(), first?.commit)

      const shown = yield* reprise("sessions", "show", fork?.sessionId ?? "")
      assert.include(shown.stdout, `forked from:      ${id}, after turn 1`)
      assert.include((yield* reprise("sessions", "list")).stdout, `fork of ${id}`)
      assert.include((yield* reprise("worktree", "list")).stdout, `${fork?.sessionId} completed`)
      const exported = yield* reprise("sessions", "export", fork?.sessionId ?? "")
      assert.strictEqual(exported.code, 0, exported.stderr)
      const file = JSON.parse(readFileSync(join(root, "agent-sessions", fork?.sessionId ?? "", "session.json"), "utf8"))
      assert.deepStrictEqual(file.metadata.forkedFrom, { sessionId: id, turn: 1 })
      assert.strictEqual(file.metadata.totalInputTokens, fork?.tokens.input)
    })
  )

  it.live("is made at an open question, which stays open, at a terminal, by a script and in the web console", () =>
    Effect.gen(function* () {
      const made = yield* parked
      const { atTerminal, git, original, questions, reprise, root, sessions } = made
      const id = original.escalationId ?? ""
      const gate = yield* atTerminal("gate")
      yield* gate.waitFor(/Which second file\?[\s\S]*fork: guidance[\s\S]*answer> /)
      gate.type("fork --at 7\n")
      yield* gate.waitFor(/has no turn 7 to fork after[\s\S]*answer> /)
      gate.type("fork: Write it otherwise.\n")
      yield* gate.waitFor(/tries again in a worktree[\s\S]*The question stays open[\s\S]*answer> /)
      gate.type("\x03")
      assert.strictEqual((yield* gate.ended).code, 0)

      const later = yield* reprise("gate", "answer", id, "fork", "--at", "7", "--json")
      assert.strictEqual(later.code, 2)
      assert.include(later.stdout, `"code":"unknown-turn"`)
      const words = ["--guidance", "Write it otherwise."]
      const told = yield* reprise("gate", "answer", id, "fork", "--at", "1", ...words, "--json")
      assert.strictEqual(told.code, 0, told.stdout + told.stderr)
      const { escalationId, fork } = JSON.parse(told.stdout).data
      assert.strictEqual(escalationId, id)
      const directory = join(root, ".reprise", "worktrees", fork.sessionId)
      const branch = `reprise/${fork.sessionId}`
      assert.deepInclude(fork, { from: { sessionId: original.sessionId, turn: 1 }, directory, branch })

      const { address, token, up } = yield* startConsole(made)
      const post = yield* signedIn(address, token)
      const [unknown, why] = yield* post(`questions/${id}/fork`, { commandId: "f0", at: 7 })
      assert.deepStrictEqual([unknown, why.error.code], [422, "unknown-turn"])
      const wanted = { commandId: "f1", guidance: "Write it otherwise." }
      const [status, forked] = yield* post(`questions/${id}/fork`, wanted)
      assert.strictEqual(status, 200, JSON.stringify(forked))
      assert.deepInclude(forked.data, { branch: `reprise/${forked.data.sessionId}`, turn: 1 })
      assert.deepStrictEqual(yield* post(`questions/${id}/fork`, wanted), [200, forked], "sent again, it is one")
      yield* waitForCommand(
        Effect.map(sessions, (all) => {
          const done = all.filter(({ forkedFrom, status }) => forkedFrom !== undefined && status === "completed")
          return done.length === 3 ? true : undefined
        })
      )
      yield* up.kill("SIGTERM")
      assert.strictEqual(git("show", `${branch}:fork.txt`).trim(), "fork")
      assert.isFalse(existsSync(join(root, "fork.txt")))
      const open = (yield* questions).filter(({ state }) => state === "open")
      assert.deepStrictEqual(
        open.map((one) => one.escalationId),
        [id]
      )
    })
  )
})
