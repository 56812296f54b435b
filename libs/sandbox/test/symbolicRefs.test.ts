import { assert, describe, it } from "@effect/vitest"
import { leadsOut } from "../src/symbolicRefs.ts"

describe("a file of git's", () => {
  it.each([
    ["ORIG_HEAD", "ref: commondir", true],
    ["ORIG_HEAD", "ref: refs/heads/main", true],
    ["ORIG_HEAD", "0123456789012345678901234567890123456789\n", false],
    ["AUTO_MERGE", "ref:config", true],
    ["FETCH_HEAD", undefined, false],
    ["refs/heads/main", "ref: refs/heads/trunk\n", false],
    ["refs/remotes/origin/HEAD", "ref:\n\t refs/remotes/origin/main", false],
    ["refs/heads/main", "ref: HEAD", true],
    ["refs/heads/main", "ref: refs/heads/../../config", true],
    ["refs/heads/main", "ref: config\0refs/heads/main", true],
    ["refs/heads/main", " ref: config", false],
    ["refs/heads/main", undefined, true],
    ["NOTES_MERGE_REF", "ref: refs/notes/commits", false],
    ["NOTES_MERGE_REF", "ref: commondir", true],
    ["HEAD", "ref: refs/heads/main", false],
    ["COMMIT_EDITMSG", "ref: it is a subject", false],
    ["hooks/OLD_HEAD", "ref: config", false]
  ])("is a ref that leads out of refs: %s, %j: %s", (within, content, expected) => {
    assert.strictEqual(leadsOut(within, content), expected)
  })
})
