/**
 * What a runtime does not offer, because its protocol has no words for it or its agent does not do it:
 * - `questions`: an agent's own questions;
 * - `waits`: that the agent waits for its model's vendor, or tries again;
 * - `attach`: a command that opens the session in the agent's own interface;
 * - `fork`: a copy of a session;
 * - `forks in part`: a copy up to an earlier turn, or in another directory;
 * - `files`: a place where its agent works;
 * - `permissions`: it asks before it runs a command;
 * - `refusals`: that the vendor refuses the key: the agent says it in its own words, as an answer or as any failure;
 * - `tries`: one call for a key that is refused: the agent tries again by itself;
 * - `usage`: the tokens of a turn;
 * - `models`: which models there are, and which is used;
 * - `pieces`: an answer without the pieces of one that broke off before;
 * - `mending`: another try for an answer that broke off: the turn fails.
 */
export type Untold =
  | "questions"
  | "waits"
  | "attach"
  | "fork"
  | "forks in part"
  | "files"
  | "permissions"
  | "refusals"
  | "tries"
  | "usage"
  | "models"
  | "pieces"
  | "mending"
