/** An answer is for the commit that the human was shown, on whichever terminal it is given. */
import { assert, layer } from "@effect/vitest"
import { Messenger } from "@reprise/actor"
import { EscalationId, PhaseId, RunId, to } from "@reprise/protocol"
import { Broker as Server } from "@reprise/testing"
import { Effect } from "effect"
import { askingBroker, raise, shownQuestion, stepOptions } from "../harness/askingBroker.ts"
import { plan, script } from "../harness/modelScript.ts"
import { makeWorld } from "../harness/World.ts"
import { waitUntil } from "../harness/waitUntil.ts"

const asked = { reason: "Which colour?", evidence: { commit: "aaaa" } }

/** The question is about another commit now. */
const moveOn = (run: string, commit: string) =>
  Messenger.use(({ ask }) =>
    ask(
      to.gate(EscalationId.make(`${run}-e1`)).RaiseEscalation({
        runId: RunId.make(run),
        phase: PhaseId.make("1"),
        step: "EXECUTE",
        origin: "author",
        options: stepOptions,
        reason: asked.reason,
        evidence: { commit }
      }),
      { id: `raise-${run}-${commit}`, subject: run }
    )
  )

const answered = (id: EscalationId) =>
  waitUntil(Effect.map(shownQuestion(id), (question) => (question.state === "answered" ? question : undefined)))

layer(askingBroker, { excludeTestServices: true, timeout: "15 minutes" })(
  "an answer is for the commit that was shown",
  (it) => {
    it.effect("by the plain gate, which shows a question that has changed again", () =>
      Effect.gen(function* () {
        const { url } = yield* Server
        const world = yield* makeWorld({ plan: plan("One"), script: script() })
        const id = yield* raise("plain", asked)
        const gate = yield* world.atTerminal("gate", "--plain", "--nats", url)
        yield* gate.waitFor(/Which colour\?[\s\S]*answer> /)
        yield* moveOn("plain", "bbbb")
        gate.type("f: Blue\n")
        yield* gate.waitFor(/The answer is for commit aaaa, but escalation plain-e1 asks about bbbb[\s\S]*answer> /)
        assert.strictEqual((yield* shownQuestion(id)).state, "open")
        gate.type("f: Green\n")
        const { commit, guidance } = yield* answered(id)
        assert.deepStrictEqual([commit, guidance], ["bbbb", "Green"])
        gate.type("\x03")
        yield* gate.ended
      })
    )

    it.effect("by 'gate answer', and by the one that --commit names", () =>
      Effect.gen(function* () {
        const { url } = yield* Server
        const world = yield* makeWorld({ plan: plan("One"), script: script() })
        const answer = (id: string, ...more: ReadonlyArray<string>) =>
          world.reprise("gate", "answer", id, "f", "--nats", url, ...more)
        const id = yield* raise("script", asked)
        const refused = yield* answer(id, "--commit", "bbbb")
        assert.strictEqual(refused.code, 2, refused.stderr)
        assert.match(refused.stderr.replace(/\s+/g, " "), /The answer is for commit bbbb, but .* asks about aaaa/)
        assert.strictEqual((yield* answer(id, "--commit", "aaaa")).code, 0)
        assert.strictEqual((yield* shownQuestion(id)).commit, "aaaa")
        const other = yield* raise("script-2", asked)
        assert.strictEqual((yield* answer(other)).code, 0)
        assert.strictEqual((yield* shownQuestion(other)).commit, "aaaa")
      })
    )
  }
)
