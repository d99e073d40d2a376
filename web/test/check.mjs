// Counts passed and failed checks.
let passed = 0;
let failed = 0;

export function check(what, holds, details = '') {
  if (holds) {
    passed += 1;
  } else {
    failed += 1;
    console.log(`FAILED: ${what}${details ? `: ${details}` : ''}`);
  }
}

export function finish() {
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed || !passed ? 1 : 0;
}
