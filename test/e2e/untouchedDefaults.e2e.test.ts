// @module-tag long
/** From the evening to the morning with settings that nobody touched, and what is refused before anything is spent. */
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { canSandbox } from "@reprise/sandbox/testing"
import { lacksAgent } from "@reprise/testing"
import { Effect } from "effect"
import { gateEvents, runEvents } from "../harness/eventLines.ts"
import { commits, once, plan, script } from "../harness/modelScript.ts"
import { makeWorld } from "../harness/World.ts"

const sandboxed = await canSandbox()

const author = (phase: number) => ({ role: "author", kind: "work", phase }) as const
/** OpenCode is the default. */
const chosen = { opencode: [], claude: ["--runtime", "claude"] } as const
const gate =
  "curl -s -m 60 http://example.com/; node -e \"process.exit(require('fs').existsSync('broken.txt') ? 1 : 0)\""

describe.skipIf(!sandboxed)("a run that nobody attends, in the sandbox", () => {
  const completes = (runtime: "opencode" | "claude") =>
    it.live.skipIf(lacksAgent(runtime))(
      `on ${runtime}, completes five phases with untouched defaults, without a question, through a failed gate, findings, refused permissions and what the sandbox refuses to author, reviewer and quality gate`,
      () =>
        Effect.gen(function* () {
          const outside = `/var/tmp/reprise-untouched-${runtime}-${process.pid}`
          const program = `/usr/local/bin/reprise-untouched-${runtime}-${process.pid}`
          const world = yield* makeWorld({
            plan: plan("One", "Two", "Three", "Four", "Five"),
            config: "",
            files: { "package.json": JSON.stringify({ scripts: { test: gate } }), ".gitignore": ".reprise/\n" },
            environment: () => ({ REPRISE_SANDBOX_MODE: "auto" }),
            script: script(
              once(author(1), commits("broken.txt", "work")),
              once(author(1), [
                { bash: "git rm -q broken.txt && git commit -q -m 'Fix it' && git rev-parse HEAD" },
                { text: "The gate passes now." }
              ]),
              once(
                { role: "reviewer", kind: "report", phase: 2 },
                {
                  report: {
                    readiness: "not_ready",
                    items: [{ id: "R1", title: "A name", action: "auto_fix", reason: "it matters", priority: "P1" }]
                  }
                }
              ),
              once(author(3), [
                { bash: `echo x > ${outside}; curl -sS -m 60 https://example.org/` },
                { bash: `touch ${program}` },
                { bash: "touch $HOME/data/results" },
                { write: { path: outside, content: "x" } },
                { bash: "echo work > phase-3.txt && git add -A && git commit -q -m 'Write it' && git rev-parse HEAD" },
                { text: "It is written and committed; what was refused is not needed." }
              ]),
              once({ role: "reviewer", kind: "work", phase: 4 }, [
                { bash: "curl -sS -m 60 https://example.net/" },
                { text: "I have read it." }
              ])
            )
          })
          const data = join(world.root, "..", "home", "data")
          mkdirSync(data, { recursive: true })
          world.git("rm", "--quiet", "reprise.toml")
          assert.strictEqual((yield* world.reprise("init")).code, 0)
          assert.include(readFileSync(join(world.root, "reprise.toml"), "utf8"), 'quality = ["npm test"]')
          world.git("add", "--all")
          world.git("commit", "--quiet", "--message", "Use Reprise")
          yield* world.reprise("trust")

          const ended = yield* world.reprise("run", "PLAN.md", "--auto", "--json", ...chosen[runtime])
          const escaped = existsSync(outside)
          rmSync(outside, { force: true })
          assert.strictEqual(ended.code, 0, ended.stdout + ended.stderr)
          assert.isFalse(escaped)
          assert.isFalse(existsSync(program))
          assert.isFalse(existsSync(join(data, "results")))

          const [run] = yield* world.runs
          const events = yield* world.eventsOf(run?.runId ?? "")
          assert.deepStrictEqual(gateEvents(events), [])
          assert.include(runEvents(events), "1 StepStarted QUALITY_RETRY gates-failed 1")
          assert.include(runEvents(events), "2 StepStarted AUTO_FIX items-to-fix 1")
          assert.notInclude(JSON.stringify(runEvents(events)), "auto-retry", "a refused permission costs no retry")
          const refusals = events.filter(({ type }) => type === "PermissionRefused")
          assert.isAtLeast(refusals.length, 1)
          assert.include(JSON.stringify(refusals), "/var/tmp")
          assert.include(JSON.stringify(refusals), "network: example.org")
          assert.include(JSON.stringify(refusals), "/home/data/results")
          assert.isTrue(refusals.every(({ unattended }) => unattended === true))
          const [asked = [], told = []] = [false, true].map((bySandbox) =>
            (run?.refusals ?? []).filter(({ sandbox }) => (sandbox !== undefined) === bySandbox)
          )
          assert.isTrue(asked.every(({ phase }) => phase === "3"))
          assert.deepStrictEqual(
            told
              .map(({ gate, phase, role, text, times }) => `phase ${phase}, ${gate ?? role}: ${text}, ${times}`)
              .sort(),
            [
              "phase 1, npm test: network: example.com, 2",
              "phase 2, npm test: network: example.com, 2",
              `phase 3, author: write: ${program}, 1`,
              ...["3", "4", "5"].map((phase) => `phase ${phase}, npm test: network: example.com, 1`),
              "phase 4, reviewer: network: example.net, 1"
            ].sort()
          )
          const shown = yield* world.reprise("status", run?.runId ?? "")
          assert.match(shown.stdout, /refused permissions?:\n {2}phase 3, author, without asking a human/)
          assert.match(
            shown.stdout,
            /sandbox refused 9 times:\n {2}phase 1, quality gate 'npm test', 2 times: network: /
          )
          const summary = events.findLast(({ type }) => type === "SummaryWritten")
          const text = readFileSync(join(world.root, String(summary?.["path"])), "utf8")
          assert.match(text, /## Refused Permissions\n\n- Phase 3, author/)
          assert.include(text, `- Phase 3, author: write: ${program}`)
          assert.match(text, /## Refused by the Sandbox\n\n- Phase 1, quality gate npm test, 2 times: network: /)
          assert.deepStrictEqual(yield* world.model.unmatched, [])
        })
    )

  completes("opencode")
  completes("claude")
})
