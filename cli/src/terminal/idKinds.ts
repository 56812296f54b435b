/** What `reprise complete` is asked for. The parser knows it without loading what answers. */
export const idKinds = ["runs", "open-runs", "sessions", "open-sessions", "questions"] as const
export type IdKind = (typeof idKinds)[number]
