/** Why a question is asked, in words for people. Pure. */
import type { EscalationOrigin } from "@reprise/protocol"

export const whyAsked: Readonly<Record<EscalationOrigin, string>> = {
  author: "The author needs you",
  reviewer: "The reviewer needs you",
  quality: "The quality gates failed",
  commit: "The author's commit was rejected",
  limit: "A limit was reached",
  plan: "The plan needs your attention",
  runtime: "The agent's turn failed",
  checkpoint: "Checkpoint",
  continuation: "The continuation state was rejected",
  permission: "The agent asks for permission",
  question: "The agent has a question",
  "phase-gate": "The phase needs your approval",
  workspace: "The workspace needs your attention"
}
