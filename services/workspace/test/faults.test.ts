import { assert, it } from "@effect/vitest"
import { GitFault } from "../src/work/faults.ts"

const failed = (stderr: string) => new GitFault({ operation: "for-each-ref", exitCode: 128, stderr })

it.each([
  ["a lock that is held", "fatal: Unable to create '/r/.git/index.lock': File exists.", true],
  ["another git at work", "Another git process seems to be running in this repository", true],
  ["a ref that is being written", "error: cannot lock ref 'refs/heads/reprise/plan'", true],
  ["the record of a worktree that is being made", "fatal: failed to read .git/worktrees/w/commondir: Success", true],
  ["the head of a worktree that is being made", "error: bad object worktrees/w/HEAD", true],
  ["a server that is not there", "fatal: unable to access: Could not resolve host: git.example", true],
  ["an object that is missing", "error: bad object HEAD", false],
  ["a folder without a repository", "fatal: not a git repository (or any of the parent directories): .git", false]
])("whether git is worth trying again: %s", (_, stderr, worth) => {
  assert.strictEqual(failed(stderr).transient, worth)
})
