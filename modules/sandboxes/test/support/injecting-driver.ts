import type { LiveEgressRules } from '../../src/domain/egress-rules/egress-rule.ts';
import { FakeDriver } from './fake-driver.ts';

/** A driver that records the rules that it gets. */
export class InjectingDriver extends FakeDriver {
  readonly applied: [string, LiveEgressRules | null][] = [];

  async applyRules(id: string, live: LiveEgressRules | null): Promise<void> {
    this.applied.push([id, live]);
  }

  /** What the last rules add. */
  contents(): unknown {
    return this.applied.at(-1)?.[1]?.rules.map(({ content }) => content);
  }
}
