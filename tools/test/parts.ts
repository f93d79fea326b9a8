import { advisoriesPart } from './advisories-part.ts';
import { checkParts } from './checks.ts';
import { helperPart } from './helper-part.ts';
import { TEST_KINDS, type TestKind } from './kinds.ts';
import { kubernetesPart } from './kubernetes-part.ts';
import type { Part } from './part.ts';
import { postgresPart, replicasPart } from './postgres-part.ts';
import { vitestPart } from './vitest-part.ts';

/** Every part of `svc test` in execution order: fastest failures first, then those that share the machine. */
export function createParts(root: string): Part[] {
  const parts: Part[] = [...checkParts];
  for (const kind of TEST_KINDS) parts.push(...partsOf(kind, root));
  return parts.toSorted((left, right) => rank(left) - rank(right));
}

function partsOf(kind: TestKind, root: string): Part[] {
  if (kind.name === 'unit') return [vitestPart(kind, root), advisoriesPart, postgresPart(kind, root)];
  if (kind.name === 'docker') return [vitestPart(kind, root), helperPart]; // after the parts that take longest
  if (kind.name === 'replicas') return [replicasPart(kind, root)];
  return [kind.name === 'kubernetes' ? kubernetesPart(kind, root) : vitestPart(kind, root)];
}

function rank({ group, sharesMachine }: Part): number {
  if (sharesMachine === true) return 2; // by duration, see `TEST_KINDS`
  return group === 'default' ? 0 : 1;
}
