/** `--remote` and `--ref`: where the hosts of a run get its code, checked before anything is sent. */
import { remoteProblem, runGit } from "@reprise/process"
import type { GitRemote } from "@reprise/protocol"
import { Effect } from "effect"
import type { Project } from "../../project/Project.ts"
import { missing, wrongUse } from "../../terminal/CliFailure.ts"
import { visible, visibleLine } from "../../terminal/visible.ts"
import type { PreparedRun } from "./prepareRun.ts"

export interface WantedRemote {
  /** The name of a remote of this repository, or an address. */
  readonly remote?: string | undefined
  readonly ref?: string | undefined
}

const git = (project: Project, args: ReadonlyArray<string>) =>
  runGit(project.root, args).pipe(
    Effect.mapError((error) => missing("git", error.message, "'reprise doctor' checks git.", error))
  )

/** What git prints; undefined if it fails. */
const optional = (project: Project, args: ReadonlyArray<string>) =>
  Effect.map(git(project, args), ({ exitCode, stdout }) => (exitCode === 0 ? stdout.trim() : undefined))

const isName = (text: string): boolean => /^\w[\w.-]*$/.test(text)

const addressOf = Effect.fnUntraced(function* (project: Project, remote: string) {
  const url = isName(remote) ? yield* optional(project, ["config", "--get", `remote.${remote}.url`]) : remote
  if (url === undefined) {
    return yield* wrongUse(
      "remote-unknown",
      `This repository has no remote '${remote}'.`,
      "'git remote --verbose' lists them; an address is possible too."
    )
  }
  const problem = remoteProblem(url)
  if (problem !== undefined) {
    return yield* wrongUse(
      "remote-invalid",
      `The remote '${visibleLine(url)}' ${problem}`,
      "Hosts get the code from there."
    )
  }
  return url
})

/** Undefined: the code is that of this working tree. Without a ref it is the branch that is checked out here. */
export const chooseRemote = Effect.fn("chooseRemote")(function* (
  project: Project,
  { ref, remote }: WantedRemote,
  natsUrl: string | undefined
) {
  if (remote === undefined) {
    if (ref === undefined) return undefined
    return yield* wrongUse("ref-without-remote", "--ref says where a remote's code begins.", "Use it with --remote.")
  }
  if (natsUrl === undefined) {
    return yield* wrongUse(
      "remote-without-nats",
      "--remote is for hosts on a NATS server of yours, which have no checkout.",
      "Name the server with --nats, or leave --remote out: the work is done here then, with --worktree beside your own."
    )
  }
  const url = yield* addressOf(project, remote)
  const branch = ref ?? (yield* optional(project, ["symbolic-ref", "--quiet", "--short", "HEAD"]))
  const commit = branch === undefined ? yield* optional(project, ["rev-parse", "HEAD"]) : undefined
  const named = branch ?? commit
  return { url, ...(named === undefined ? {} : { ref: named }) } satisfies GitRemote
})

const isCommitted = (project: Project, path: string) =>
  Effect.map(git(project, ["diff", "--quiet", "HEAD", "--", path]), ({ exitCode }) => exitCode === 0)

/** The commit that a branch or a tag has at the remote. */
const commitThere = Effect.fnUntraced(function* (project: Project, { ref = "HEAD", url }: GitRemote) {
  const names = ref === "HEAD" ? [ref] : [`refs/heads/${ref}`, `refs/tags/${ref}^{}`, `refs/tags/${ref}`]
  const { exitCode, stderr, stdout } = yield* git(project, ["ls-remote", "--", url, ...names])
  if (exitCode !== 0) {
    return yield* missing(
      "remote-unreachable",
      `${visibleLine(url)} cannot be read from here:\n${visible(stderr.trim())}`,
      "The hosts need it too. Check the address and your access: git ls-remote."
    )
  }
  const found = new Map(stdout.split("\n").map((line) => [line.split("\t")[1], line.split("\t")[0]] as const))
  return names.map((name) => found.get(name)).find((commit) => commit !== undefined)
})

/**
 * The hosts see what was pushed, so the plan must be among it. With a ref of the user's own only that must exist: what it
 * holds may not be here.
 */
export const requirePushed = Effect.fn("requirePushed")(function* (
  { plan, project }: PreparedRun,
  remote: GitRemote,
  isOwnRef: boolean
) {
  const push = `Commit and push it first: git push ${visibleLine(remote.url)}.`
  if (!isOwnRef && !(yield* isCommitted(project, plan.path))) {
    return yield* missing("plan-not-committed", `${plan.path} has changes that are not committed.`, push)
  }
  if (remote.ref !== undefined && /^[0-9a-f]{40,64}$/.test(remote.ref)) return
  const there = yield* commitThere(project, remote)
  if (there === undefined) {
    return yield* missing(
      "ref-missing",
      `${visibleLine(remote.url)} has no branch or tag '${visibleLine(remote.ref ?? "HEAD")}'.`,
      "Push it first."
    )
  }
  if (isOwnRef || there === (yield* optional(project, ["rev-parse", "HEAD"]))) return
  return yield* missing(
    "not-pushed",
    `The branch ${visibleLine(remote.ref ?? "HEAD")} has another commit at ${visibleLine(remote.url)} than here.`,
    "Push yours, or pull what is there. --ref names another beginning."
  )
})
