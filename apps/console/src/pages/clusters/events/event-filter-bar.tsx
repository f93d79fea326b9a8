import { FilterField, FilterForm } from '../../../ui/filter-form.tsx';
import { Select } from '../../../ui/select.tsx';
import { EVENT_TYPES, eventLabel } from './event-labels.ts';
import type { EventsSearch } from './events-search.ts';

export interface EventFilterBarProps {
  search: EventsSearch;
  onChange: (search: EventsSearch) => void;
}

const ANY = 'any';

export function EventFilterBar({ search: { type, namespace }, onChange }: EventFilterBarProps) {
  // Also offer an unknown type from the URL.
  const types = type === undefined || EVENT_TYPES.includes(type) ? EVENT_TYPES : [...EVENT_TYPES, type];
  return (
    <FilterForm label="Filter events">
      <Select
        label="Type"
        labelHidden
        options={[
          { value: ANY, label: 'All types' },
          ...types.map((each) => ({ value: each, label: eventLabel(each).label })),
        ]}
        value={type ?? ANY}
        onChange={(next) =>
          onChange({ ...(next !== ANY && { type: next }), ...(namespace !== undefined && { namespace }) })
        }
      />
      <FilterField
        label="Namespace"
        placeholder="Namespace (exact match)"
        value={namespace}
        onApply={(next) => onChange({ ...(type !== undefined && { type }), ...(next && { namespace: next }) })}
      />
    </FilterForm>
  );
}
