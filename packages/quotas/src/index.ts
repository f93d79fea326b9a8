export { formatAmount, parseLimit } from './amount-text.ts';
export {
  breachDetails,
  findBreach,
  QUOTA_EXCEEDED_MESSAGE,
  type Breach,
  type BreachDetails,
  type Demand,
  type Usage,
} from './breach.ts';
export { createQuotaCatalogue, defaultLimits, type QuotaCatalogue } from './catalogue.ts';
export { gateSubjects, passQuotaGate } from './gate.ts';
export { QuotaRates, type RateRefusal } from './quota-rates.ts';
export { scopeUsage, sumUsage, zeroUsage } from './scope-usage.ts';
export { isLimited, limitIn, type Limits, type QuotaLimits, unlimitedQuotas } from './limits.ts';
export {
  defineQuotas,
  MAX_LIMIT,
  QUOTA_SCOPES,
  type DefaultLimit,
  type Limit,
  type Quota,
  type QuotaDeclaration,
  type QuotaScope,
  type Quotas,
  type QuotaUnit,
} from './quota.ts';
export { trafficQuotas } from './traffic-quotas.ts';
export {
  createWorkspaceTraffic,
  unlimitedTraffic,
  type TrafficRefusal,
  type WorkspaceTraffic,
} from './workspace-traffic.ts';
