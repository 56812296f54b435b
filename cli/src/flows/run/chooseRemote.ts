/** `--remote` and `--ref`: where the hosts of a run get its code, checked before anything is sent. */
import { isAbsolute } from "node:path"
import { remoteProblem, runGit, withoutLogin } from "@reprise/process"
import { defined, type GitRemote } from "@reprise/protocol"
import { Effect } from "effect"
import type { Project } from "../../project/Project.ts"
import type { PlanFile } from "../../project/planFile.ts"
import { missing, wrongUse } from "../../terminal/CliFailure.ts"
import { visible, visibleLine } from "../../terminal/visible.ts"

export interface WantedRemote {
  /** The name of a remote of this repository, or an address. */
  readonly remote?: string | undefined
  readonly ref?: string | undefined
}

const git = (project: Project, args: ReadonlyArray<string>, options: { readonly reachesRemotes?: boolean } = {}) =>
  runGit(project.root, args, options).pipe(
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
    const hint = isAbsolute(url)
      ? `A path of this machine is 'file://${visibleLine(url)}', if the hosts have it too.`
      : "Hosts get the code from there; you may give an address instead of a name."
    return yield* wrongUse("remote-invalid", `The remote '${visibleLine(withoutLogin(url))}' ${problem}`, hint)
  }
  return url
})

/** A short hash means something else elsewhere. */
const wholeHash = (project: Project, ref: string) =>
  /^[0-9a-f]{4,39}$/.test(ref)
    ? Effect.map(optional(project, ["rev-parse", "--verify", "--quiet", `${ref}^{commit}`]), (hash = ref) => hash)
    : Effect.succeed(ref)

/** Undefined: the code is that of this working tree. Without a ref it is the branch that is checked out here. */
export const chooseRemote = Effect.fn("chooseRemote")(function* (
  project: Project,
  { ref, remote }: WantedRemote,
  natsUrl: string | undefined
) {
  if (remote === undefined) {
    if (ref === undefined) return undefined
    return yield* wrongUse(
      "ref-without-remote",
      "--ref chooses the starting point in a remote.",
      "Use it with --remote."
    )
  }
  if (natsUrl === undefined) {
    return yield* wrongUse(
      "remote-without-nats",
      "--remote is for hosts on your NATS server, which have no checkout.",
      "Name the server with --nats, or leave --remote out to work here, with --worktree beside your own tree."
    )
  }
  const url = yield* addressOf(project, remote)
  if (ref !== undefined) return { url, ref: yield* wholeHash(project, ref) } satisfies GitRemote
  const branch = yield* optional(project, ["symbolic-ref", "--quiet", "--short", "HEAD"])
  const commit = branch === undefined ? yield* optional(project, ["rev-parse", "HEAD"]) : undefined
  const named = branch ?? commit
  return { url, ...defined({ ref: named }) } satisfies GitRemote
})

/** Whether a commit has the plan as it is here; undefined: the commit is not here. */
const hasPlan = Effect.fnUntraced(function* (project: Project, commit: string, plan: PlanFile) {
  if ((yield* optional(project, ["rev-parse", "--verify", "--quiet", `${commit}^{commit}`])) === undefined)
    return undefined
  const { exitCode, stdout } = yield* git(project, ["show", `${commit}:${plan.path}`])
  return exitCode === 0 && stdout === plan.text
})

/** The commit that a branch or a tag has at the remote. */
const commitThere = Effect.fnUntraced(function* (project: Project, { ref = "HEAD", url }: GitRemote) {
  const names = ref === "HEAD" ? [ref] : [`refs/heads/${ref}`, `refs/tags/${ref}^{}`, `refs/tags/${ref}`]
  const { exitCode, stderr, stdout } = yield* git(project, ["ls-remote", "--", url, ...names], { reachesRemotes: true })
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

const isHash = (text: string): boolean => /^[0-9a-f]{40,64}$/.test(text)

/** The hosts see what was pushed, so the plan must be among it, as it is here. `isOwnRef`: the user has named the ref. */
export const requirePushed = Effect.fn("requirePushed")(function* (
  { plan, project }: { readonly plan: PlanFile; readonly project: Project },
  remote: GitRemote,
  isOwnRef: boolean
) {
  const { ref = "HEAD", url } = remote
  const shown = visibleLine(url)
  if (!isOwnRef && (yield* hasPlan(project, "HEAD", plan)) !== true) {
    return yield* missing(
      "plan-not-committed",
      `${visibleLine(plan.path)} has changes that are not committed.`,
      "Commit it, and push the branch: git push"
    )
  }
  const there = isHash(ref) ? ref : yield* commitThere(project, remote)
  if (there === undefined) {
    return yield* missing(
      "ref-missing",
      `${shown} has no branch or tag '${visibleLine(ref)}'.`,
      "Push it first, or choose another starting point with --ref: a branch, a tag, or the hash of a commit."
    )
  }
  if (isHash(ref) && (yield* optional(project, ["branch", "--remotes", "--contains", ref])) === "") {
    return yield* missing("not-pushed", `The commit ${ref} is in no branch that was pushed.`, "Push it first: git push")
  }
  if (!isOwnRef && there !== (yield* optional(project, ["rev-parse", "HEAD"]))) {
    return yield* missing(
      "not-pushed",
      `The branch ${visibleLine(ref)} has another commit at ${shown} than here.`,
      "Push yours, or pull theirs. --ref chooses another starting point."
    )
  }
  if ((yield* hasPlan(project, there, plan)) === false) {
    return yield* missing(
      "other-plan",
      `${visibleLine(plan.path)} is another one at '${visibleLine(ref)}' of ${shown} than here.`,
      "Check out the commit that the run should start from, or push the plan there."
    )
  }
})
