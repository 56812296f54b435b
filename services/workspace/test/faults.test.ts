import { assert, it } from "@effect/vitest"
import { ForeignFileRefused, ProgramFailed } from "@reprise/process"
import { GitFault, HostFault, Impossible, isOfTree, noAnswer } from "../src/work/faults.ts"

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

it.each([
  ["HEAD is gone", "fatal: not a git repository (or any of the parent directories): .git", true],
  ["the pointer of a worktree is not a pointer", "fatal: invalid gitfile format: /w/.git", true],
  ["the index is cut", "fatal: .git/index: index file smaller than expected", true],
  ["the configuration cannot be read", "fatal: bad config line 1 in file .git/config", true],
  ["packed refs are not refs", "fatal: unexpected line in .git/packed-refs: [[[", true],
  ["an object is cut", "error: object file .git/objects/ab/cd is empty", true],
  ["a folder of objects cannot be written", "error: insufficient permission for adding an object", true],
  ["a folder of refs cannot be read", "error: unable to open '.git/refs/x': Permission denied", true],
  ["a lock is held", "fatal: Unable to create '/r/.git/index.lock': Permission denied", false],
  ["a server refuses a key", "git@git.example: Permission denied (publickey).", false],
  ["the disk is gone", "fatal: the disk is gone", false]
])("whether git's own files are broken: %s", (_, stderr, broken) => {
  const fault = failed(stderr)
  assert.strictEqual(fault.isBroken, broken)
  assert.strictEqual(isOfTree(fault), broken)
  assert.strictEqual(fault.message.includes("Repair git's own files"), broken)
})

const pipe = new ForeignFileRefused("/w/.gitignore", "ENOTAFILE", "is a named pipe")
it.each([
  ["busy", "it worked all the time", "UnreadableTree"],
  ["memory", "it needed more", "UnreadableTree"],
  ["output", "it wrote more", "UnreadableTree"],
  ["crash", "SIGSEGV ended it", "UnreadableTree"],
  ["blocked", pipe, "NotAFile"],
  ["timeout", "it did not end", "HostFault"],
  ["signal", "SIGKILL ended it", "HostFault"],
  ["fault", "EMFILE", "HostFault"],
  ["not-found", "ENOENT", "HostFault"]
] as const)("whose it is that git gave no answer: %s", (reason, cause, tag) => {
  const fault = noAnswer("status")(new ProgramFailed({ program: "git", reason, cause }))
  assert.strictEqual(fault._tag, tag)
  assert.strictEqual(isOfTree(fault), tag !== "HostFault")
  assert.match(fault.message, /status|\.gitignore/)
})

it("is nobody's tree when the host or the request is at fault", () => {
  assert.isFalse(isOfTree(new HostFault({ operation: "x", cause: "y" })))
  assert.isFalse(isOfTree(new Impossible({ reason: "x" })))
})
