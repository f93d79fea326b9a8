export { ensureSystemPackages, findProgram, type EnsureResult, type SystemPackage } from './ensure.ts';
export { fetchPinnedPackage, readPinnedPackage, type PinnedPackage } from './pinned-package.ts';
