import { describe, expect, it } from 'vitest';
import { outcomeReason } from './audit-labels.ts';

describe('the outcome of an audit entry', () => {
  it('has an explanation unless it is a success', () => {
    expect(outcomeReason({ outcome: 'success', status: 200 })).toBeNull();
    expect(outcomeReason({ outcome: 'refused', status: 400 })).toBe(
      'The request was not valid, or was cut off before it was complete.',
    );
    expect(outcomeReason({ outcome: 'refused', status: 418 })).toBe('The request was rejected.');
    expect(outcomeReason({ outcome: 'failed', status: 500 })).toBe('The platform failed to complete the request.');
  });
});
