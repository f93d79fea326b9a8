import { matchesWildcard } from './wildcard.ts';
import { holds, type ConditionValues } from './conditions.ts';
import type { BucketPolicy, PatternSet, PolicyStatement, PrincipalSet } from './policy.ts';

export interface PolicyQuestion {
  /** Null for an anonymous caller. */
  workspaceUuid: string | null;
  accessKeyId: string | null;
  /** Such as `s3:GetObject`. */
  action: string;
  bucketName: string;
  /** Null for the bucket itself. */
  key: string | null;
  conditions: ConditionValues;
}

export type PolicyAnswer = 'deny' | 'allow' | 'silent';

/** A deny overrides every allow. */
export function evaluatePolicy(policy: BucketPolicy, question: PolicyQuestion): PolicyAnswer {
  const resource = `arn:aws:s3:::${question.bucketName}${question.key === null ? '' : `/${question.key}`}`;
  const action = question.action.toLowerCase();
  let answer: PolicyAnswer = 'silent';
  for (const statement of policy.statements) {
    if (statement.effect === 'Allow' && answer === 'allow') continue;
    if (!applies(statement, question, action, resource)) continue;
    if (statement.effect === 'Deny') return 'deny';
    answer = 'allow';
  }
  return answer;
}

function applies(statement: PolicyStatement, question: PolicyQuestion, action: string, resource: string): boolean {
  return (
    isOneOf(statement.principals, question) &&
    contains(statement.actions, action) &&
    contains(statement.resources, resource) &&
    statement.conditions.every((condition) => holds(condition, question.conditions))
  );
}

function isOneOf(principals: PrincipalSet, { workspaceUuid, accessKeyId }: PolicyQuestion): boolean {
  const named =
    principals.everybody ||
    (workspaceUuid !== null && principals.workspaces.has(workspaceUuid)) ||
    (accessKeyId !== null && principals.accessKeys.has(accessKeyId));
  return named !== principals.negated;
}

function contains({ patterns, negated }: PatternSet, text: string): boolean {
  return patterns.some((pattern) => matchesWildcard(pattern, text)) !== negated;
}
