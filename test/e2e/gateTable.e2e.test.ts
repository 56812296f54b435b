/** The full-screen gate in a real terminal: what a human sees, as files in `screens`, and what becomes of what is typed. */
import { execFileSync } from "node:child_process"
import { existsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, expect, layer } from "@effect/vitest"
import { Messenger } from "@reprise/actor"
import { Broker as Server } from "@reprise/testing"
import { Effect } from "effect"
import { answer, askingBroker, raise, shownQuestion } from "../harness/askingBroker.ts"
import { plan, script } from "../harness/modelScript.ts"
import { watchScreen } from "../harness/Screen.ts"
import type { Size } from "../harness/screenOf.ts"
import { makeWorld } from "../harness/World.ts"
import { waitUntil } from "../harness/waitUntil.ts"

const wide: Size = { columns: 110, rows: 30 }

/** `reprise gate` in a terminal of this size, once it shows a question. */
/** `environment`: more variables; `root` is the world's repository. */
const openGate = Effect.fnUntraced(function* (
  size: Size,
  environment: (root: string) => Readonly<Record<string, string>> = () => ({})
) {
  const { url } = yield* Server
  const world = yield* makeWorld({ plan: plan("One"), script: script() })
  const gate = yield* world.startIn({ input: size, environment: environment(world.root) }, "gate", "--nats", url)
  return { gate, world, screen: yield* watchScreen(gate, size) }
})

const shown = /Your answer is needed[\s\S]*Ctrl-C leave/

/** The time that has passed differs between two runs of a test. */
const timeless = (rows: ReadonlyArray<string>): string =>
  `${rows
    .map((row) => row.trimEnd())
    .join("\n")
    .replaceAll(/\b\d+ min ago\b/g, "just now")
    .trimEnd()}\n`

const looksLike = (name: string, rows: ReadonlyArray<string>) =>
  Effect.promise(() => expect(timeless(rows)).toMatchFileSnapshot(`screens/${name}.txt`))

/** Closes every question that another test has left open. */
const closeAll = Effect.gen(function* () {
  const messenger = yield* Messenger
  for (const { escalationId } of yield* messenger.list.gate({ state: "open" })) yield* answer(escalationId, "abort")
})

layer(askingBroker, { excludeTestServices: true, timeout: "15 minutes" })("the gate in a terminal", (it) => {
  it.effect("shows several questions beside the one that is read, and its help", () =>
    Effect.gen(function* () {
      yield* closeAll
      yield* raise("several-1", {
        reason: "Which colour?",
        evidence: { planPath: "PLAN.md", phaseTitle: "One", attempt: 1 }
      })
      yield* raise("several-2", { reason: "Which size?", evidence: { planPath: "OTHER.md" } })
      yield* raise("several-3", { reason: Array.from({ length: 60 }, (_, n) => `Line ${n} of many.`).join("\n") })
      const { gate, screen } = yield* openGate(wide)
      yield* screen.until(/1 of 3[\s\S]*Ctrl-C leave/)
      yield* looksLike("several", yield* screen.rows)
      gate.type("s")
      yield* screen.until(/2 of 3/)
      gate.type("s")
      yield* screen.until(/3 of 3/)
      gate.type(" ")
      yield* screen.until(/more above/)
      yield* looksLike("scrolled", yield* screen.rows)
      gate.type("?")
      yield* screen.until(/Alt-Enter begins a new line/)
      yield* looksLike("help", yield* screen.rows)
      gate.type("x")
      yield* screen.untilGone(/Alt-Enter begins a new line/)
      gate.type("/")
      yield* screen.until(/Esc shows all/)
      gate.type("OTHER")
      yield* screen.until(/Which size\?/)
      yield* looksLike("filtered", yield* screen.rows)
      gate.type("\x03")
      assert.strictEqual((yield* gate.ended).code, 0)
    })
  )

  it.effect("is drawn again in each size that the terminal gets, from 200 columns to 40", () =>
    Effect.gen(function* () {
      yield* closeAll
      yield* raise("resized", {
        reason:
          "A long reason, so that it has to be broken: which of the two colours of the plan is the right one for the door?",
        evidence: {
          planPath: "PLAN.md",
          phaseTitle: "The door",
          lastLines: "I have read everything that there is to read about doors."
        }
      })
      const { gate, screen } = yield* openGate({ columns: 200, rows: 24 })
      yield* screen.until(shown)
      yield* looksLike("columns-200", yield* screen.rows)
      yield* screen.resize({ columns: 40, rows: 24 })
      yield* screen.until(/\n─{40}\n/)
      yield* screen.until(/Enter recommended · \? help$/)
      yield* looksLike("columns-40", yield* screen.rows)
      yield* screen.resize({ columns: 120, rows: 40 })
      // The columns change before the rows do, and there is a picture in between.
      yield* screen.until(/^(?:.*\n){39}Enter recommended · \? help · Ctrl-C leave.* a attach$/)
      yield* looksLike("columns-120", yield* screen.rows)
      gate.type("\x03")
      assert.strictEqual((yield* gate.ended).code, 0)
    })
  )

  it.effect("leaves the terminal to an open editor when somebody else answers, and then shows what happened", () =>
    Effect.gen(function* () {
      yield* closeAll
      const asked = yield* raise("edited", { reason: "Which colour?" })
      const { gate, screen, world } = yield* openGate(wide, (root) => ({
        EDITOR: `sh '${join(root, "..", "editor")}'`
      }))
      const at = (name: string) => join(world.root, "..", name)
      execFileSync("mkfifo", [at("close")])
      writeFileSync(
        at("editor"),
        `printf 'Blue,\\nor green' > "$1"; echo EDITING; read -r line < '${at("close")}'; echo CLOSED\n`
      )
      yield* screen.until(shown)
      gate.type("e")
      yield* screen.until(/EDITING$/)
      yield* answer(asked, "fix")
      const later = yield* raise("edited-later", { reason: "Which size?" })
      yield* waitUntil(Effect.map(shownQuestion(later), ({ state }) => (state === "open" ? true : undefined)))
      assert.match((yield* screen.rows).join("\n").trimEnd(), /EDITING$/, "nothing is drawn over the editor")
      writeFileSync(at("close"), "\n")
      yield* screen.until(/Which size\?[\s\S]*edited-e1 was answered by ada: fix\. What you wrote was not sent/)
      gate.type("f")
      yield* screen.until(/Enter send/)
      gate.type("\x07")
      yield* screen.until(/EDITING$/)
      writeFileSync(at("close"), "\n")
      yield* screen.until(/> Blue,\n {2}or green[\s\S]*The agent will be told: Blue,/)
      gate.type("\r")
      yield* screen.until(/No question is open/)
      assert.strictEqual((yield* shownQuestion(later)).guidance, "Blue,\nor green")
      gate.type("\x03")
      yield* screen.until(/What you wrote was not sent:\n {2}\| Blue,\n {2}\| or green/)
      assert.isTrue(existsSync(at("close")))
    })
  )

  it.effect("asks line by line with --plain, without colours, on a dumb terminal and for readers of the screen", () =>
    Effect.gen(function* () {
      yield* closeAll
      yield* raise("lines", { reason: "Which colour?", evidence: { planPath: "PLAN.md", lastLines: "I ask." } })
      for (const environment of [{ NO_COLOR: "1" }, { ACCESSIBLE: "1" }, { INK_SCREEN_READER: "true" }]) {
        const { gate, screen } = yield* openGate({ columns: 80, rows: 24 }, () => environment)
        yield* screen.until(/answer>/)
        assert.notInclude(gate.stdout, "\x1b[?1049h", "no other screen")
        yield* looksLike("lines", yield* screen.rows)
        gate.type("\x03")
        assert.strictEqual((yield* gate.ended).code, 0)
      }
      const { url } = yield* Server
      const world = yield* makeWorld({ plan: plan("One"), script: script() })
      const plain = yield* world.onScreen("gate", "--plain", "--nats", url)
      yield* plain.waitFor(/Which colour\?[\s\S]*answer> /)
      assert.notInclude(plain.stdout, "\x1b[?1049h")
      plain.type("\x03")
      assert.strictEqual((yield* plain.ended).code, 0)
      const dumb = yield* world.atTerminal("gate", "--nats", url)
      yield* dumb.waitFor(/Which colour\?[\s\S]*answer> /)
      assert.notInclude(dumb.stdout, "\x1b[?1049h")
      dumb.type("\x03")
      assert.strictEqual((yield* dumb.ended).code, 0)
    })
  )
})
