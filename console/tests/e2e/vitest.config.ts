import { defineConfig } from "vitest/config";

// Whole sessions in a real browser against a real server: one file after the other, as the machine may be small.
export default defineConfig({
  test: {
    include: ["tests/e2e/*.test.ts"],
    environment: "node",
    fileParallelism: false,
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
    reporters: "verbose",
    bail: 1,  // a session builds on what went before
  },
});
