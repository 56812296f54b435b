import { assert, describe, it } from "@effect/vitest"
import { withoutReportRequest } from "../src/prompts.ts"
import { firstTurn, found, given, newTurn, nextTurn, opened, startAlone } from "./support/story.ts"

const changes = "1 changed file (+2 -1 lines):\n> M a.ts (+2 -1)"
const section = `\n\n## Uncommitted changes\n\nThe working tree holds changes that nobody has committed.`
const openWork = (outcome: ReturnType<ReturnType<typeof given>["when"]>) =>
  outcome.work.map(({ work }) => work).find(({ _tag }) => _tag === "OpenSession")

describe("an author that begins among uncommitted changes", () => {
  it("is told of them between its task and the request for its report", () => {
    const { text } = given([newTurn(1)])
      .when({ ...opened(1), uncommitted: changes })
      .event("PromptPrepared")
    assert.match(text, /^You are the author of phase 2\.\n\n## Uncommitted changes\n\n/)
    assert.isBelow(text.indexOf(changes), text.indexOf("## Your report"))
  })

  it("is told of none where git tells of none", () => {
    assert.notInclude(
      given([newTurn(1)])
        .when(opened(1))
        .event("PromptPrepared").text,
      "Uncommitted"
    )
  })

  it("is told in the user's own words", () => {
    const prompts = { "uncommitted-changes": "Look: {changes}" }
    const { text } = given([newTurn(1, { prompts })])
      .when({ ...opened(1), uncommitted: changes })
      .event("PromptPrepared")
    assert.include(text, `## Uncommitted changes\n\nLook: ${changes}\n\n## Your report`)
  })

  it("is told of them also where its session replaces a lost one", () => {
    const lost = given([...firstTurn, nextTurn(2, { onMissing: "fresh" })]).when(found(2, "missing"))
    assert.deepInclude(openWork(lost), { uncommitted: {} })
    const { text } = given([...firstTurn, nextTurn(2, { onMissing: "fresh" }), found(2, "missing")])
      .when({ ...opened(2, "ses_2"), uncommitted: changes })
      .event("PromptPrepared")
    assert.include(text, section)
  })

  it("is asked about by the host only: not for a reviewer, nor where a standalone session begins", () => {
    const asked = given([]).when(newTurn(1, { reviewPath: "docs/review.md" }))
    assert.deepInclude(openWork(asked), { uncommitted: { reviewPath: "docs/review.md" } })
    assert.notProperty(openWork(given([]).when(newTurn(1, { role: "reviewer" }))) ?? {}, "uncommitted")
    const { phase: _, ...alone } = newTurn(1)
    assert.notProperty(openWork(given([startAlone]).when(alone)) ?? {}, "uncommitted")
  })
})

it("a conversation that is told to another session holds no uncommitted changes of its time", () => {
  const { text } = given([newTurn(1)])
    .when({ ...opened(1), uncommitted: changes })
    .event("PromptPrepared")
  assert.strictEqual(withoutReportRequest(text), "You are the author of phase 2.")
})
