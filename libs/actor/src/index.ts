export * from "./Actor.ts"
