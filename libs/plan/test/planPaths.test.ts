import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { continuationStatePath, planIdOf, planSlug, reviewPath, slugOf, summaryPath } from "../src/index.ts"

describe("names and paths", () => {
  it.each([
    ["PLAN.md", "plan"],
    ["docs/plans/007-Session_Continuation.md", "007-session-continuation"],
    ["C:\\plans\\Auth Plan.markdown", "auth-plan"],
    ["plans/auth.v2.md", "auth-v2"],
    ["./.md", "md"],
    ["Größe.md", "große"],
    ["計画.md", "計画"],
    ["../../..", "plan"],
    ["🙂.md", "plan"],
    [`${"long ".repeat(40)}.md`, "long-long-long-long-long-long-long-long-long-lon"]
  ])("%j has the slug %j", (path, slug) => assert.strictEqual(planSlug(path), slug))

  it("use the plan's own id rather than its path", () => {
    assert.strictEqual(planIdOf({ id: "02-01" }, "x/Plan.md"), "02-01")
    assert.strictEqual(planIdOf({}, "x/Auth Plan.md"), "auth-plan")
  })

  it.each([
    ["2", "Sign in!", ".planning/phases/02-sign-in/.continuation-state.json"],
    ["2.1", "Sign in", ".planning/phases/02.1-sign-in/.continuation-state.json"],
    ["02-01", "auth", ".planning/phases/02-auth/.continuation-state.json"],
    ["auth", "auth", ".planning/phases/00-auth/.continuation-state.json"],
    ["12", "../../etc", ".planning/phases/12-etc/.continuation-state.json"]
  ])("put the state file of %j and %j at %s", (id, slug, path) => {
    assert.strictEqual(continuationStatePath(id, slug), path)
    assert.strictEqual(summaryPath(id, slug), path.replace(".continuation-state.json", "SUMMARY.md"))
  })

  it("name the review file after plan and phase", () => {
    assert.strictEqual(reviewPath("plans/AUTH_Plan.md", "2.1"), "docs/reviews/AUTH_Plan-phase-2.1-review.md")
    assert.strictEqual(reviewPath("plans/Größe v2.markdown", "1"), "docs/reviews/Größe v2-phase-1-review.md")
    assert.strictEqual(reviewPath("plans/$&{phase}.md", "1", "r/{plan}/{phase}.md"), "r/$&{phase}/1.md")
    assert.strictEqual(reviewPath("plans/...md", "1", "r/{plan}/{phase}.md"), "r/plan/1.md")
    assert.strictEqual(reviewPath("a\nb.md", "1", "{plan}.md"), "a-b.md")
  })

  it.prop("contain slugs that are one safe path segment", [Schema.String], ([text]) => {
    assert.match(slugOf(text), /^[\p{L}\p{N}]+(?:-[\p{L}\p{N}]+)*$/u)
  })
})
