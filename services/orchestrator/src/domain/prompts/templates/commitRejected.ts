import { template } from "@reprise/plan/template"
import { closing } from "./closing.ts"

export const commitRejected = template({
  name: "commit-rejected",
  sent: "to the author whose reported commit was rejected",
  variables: {
    commit: "The commit as it was reported.",
    reason: "The reason's name, such as missing or unreachable.",
    detail: "The reason in a sentence.",
    base: "The commit that the work began from."
  },
  required: ["detail"],
  text: `The commit {commit} that you reported was rejected ({reason}): {detail}

Put this right: the commit must exist, be reachable from HEAD, be newer than {base} and hold your work, and nothing may be left uncommitted. Commit what is missing, and report the hash of your newest commit.

${closing}`
})
