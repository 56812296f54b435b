import { assert, describe, it } from "@effect/vitest"
import { quote } from "@reprise/plan/quote"
import { backgroundText } from "../src/prompt/background.ts"
import { item, withGates } from "./support/samples.ts"
import { story } from "./support/story.ts"

/** Every prompt that an author gets in a run that goes through all steps. */
const prompts = () => {
  const s = story().executing(withGates)
  s.completes().completes("abc1").commitRejected().worked("abc2").gates(false).worked("abc3").gates(true)
  s.verdict("not_ready", item("R1")).needsHuman().agentWorks().agent("AgentIdle").worked().gates(true)
  s.verdict("ready").treeDirty("x").answer("fix", "clean up").needsHuman().answer("continue-session")
  return s.sent.flatMap((one) => {
    if (one._tag !== "SendCommand" || one.command._tag !== "StartTurn") return []
    const { freshPrompt, prompt } = one.command as unknown as { prompt: string; freshPrompt?: string }
    return freshPrompt === undefined ? [prompt] : [prompt, freshPrompt]
  })
}

describe("author prompts", () => {
  it("begin with the same line for a phase", () => {
    for (const prompt of prompts()) {
      assert.strictEqual(prompt.split("\n")[0], "You are the author of phase 1 of the plan docs/plan.md: First things.")
    }
    assert.isAbove(prompts().length, 8)
  })

  it("are never taken for the session-manager's report prompt", () => {
    for (const prompt of prompts()) {
      assert.notInclude(prompt, "JSON")
      assert.notMatch(prompt, /completedTasks|readiness/)
    }
  })

  it("leave no placeholder unfilled", () => {
    for (const prompt of prompts()) assert.notMatch(prompt, /\{[a-z_]+\}/)
  })

  it("list the newest summaries and count the earlier ones", () => {
    const s = story().executing().phaseApproved("abc1")
    const [done] = s.run.outcomes
    if (done === undefined) throw new Error("no phase has ended")
    const outcomes = Array.from({ length: 12 }, (_, n) => ({ ...done, summary: `summary-${n + 1}.md` }))
    const text = backgroundText({ ...s.run, outcomes })
    assert.include(text, "- 2 earlier ones, which lie beside these\n- phase 1: summary-3.md\n")
    assert.include(text, "summary-12.md")
    assert.notInclude(text, "summary-2.md")
  })

  it("of a run's own options replace the built-in ones, and are filled in once", () => {
    const s = story().executing({ prompts: { work: "Do {phase} of {plan_path}. {unknown}\n{tasks}" } })
    assert.include(s.prompt, "Do 1 of docs/plan.md. {unknown}\n- P1.1: Begin")
  })

  it("hand on the texts of the session-manager's own prompts, and no others", () => {
    const startOf = (prompts: Readonly<Record<string, string>>) =>
      story()
        .executing({ prompts })
        .sent.flatMap((one) =>
          one._tag === "SendCommand" && one.command._tag === "StartTurn"
            ? [(one.command as unknown as { prompts?: unknown }).prompts]
            : []
        )
    assert.deepStrictEqual(startOf({ work: "Do {phase}.", report: "Say {shape}" }), [{ report: "Say {shape}" }])
    assert.deepStrictEqual(startOf({ work: "Do {phase}." }), [undefined])
  })

  it("take texts of agents and humans as they are, but mark each line of an agent", () => {
    const text = "{plan_path} $1 $& \\n `x`\n\n\ttab"
    const s = story().executing().worked("abc1")
    s.verdict("not_ready", { ...item("R1"), reason: text })
      .needsHuman()
      .answer("fix", text)
    assert.isTrue(s.prompt.endsWith(text))
    assert.include(s.prompt, quote(`  ${text}`))
  })

  it("of a continuation do not grow with the number of tasks that are done", () => {
    const size = (count: number) => {
      const completedTasks = Array.from({ length: count }, (_, index) => ({
        id: `P1.${String(index).padStart(4, "0")}`,
        commit: "abc1234",
        files: ["a.ts"]
      }))
      const s = story().executing()
      s.reports({ result: "needs_human", reason: "x", completedTasks }).answer("fix").stateWritten().tasksVerified()
      return s.prompt.length
    }
    assert.isBelow(size(500) - size(50), 10)
  })
})
