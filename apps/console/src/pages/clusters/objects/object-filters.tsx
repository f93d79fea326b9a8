import type { ReactNode } from 'react';
import { FilterField, FilterForm } from '../../../ui/filter-form.tsx';
import { nameFault, type ObjectsSearch } from './objects-search.ts';

export interface ObjectFiltersProps {
  /** The listed objects, such as `pods`. */
  what: string;
  search: ObjectsSearch;
  onChange: (search: ObjectsSearch) => void;
  withNamespace?: boolean;
  /** Additional fields, before the others. */
  children?: ReactNode;
}

export function ObjectFilters({ what, search, onChange, withNamespace = true, children }: ObjectFiltersProps) {
  const { name, namespace, ...rest } = search;
  const apply = (changes: { name?: string | undefined; namespace?: string | undefined }): void => {
    const next = { name, namespace, ...changes };
    onChange({ ...rest, ...(next.name && { name: next.name }), ...(next.namespace && { namespace: next.namespace }) });
  };
  return (
    <FilterForm label={`Filter ${what}`}>
      {children}
      <FilterField label="Name contains" value={name} check={nameFault} onApply={(next) => apply({ name: next })} />
      {withNamespace && (
        <FilterField
          label="Namespace"
          value={namespace}
          check={nameFault}
          onApply={(next) => apply({ namespace: next })}
        />
      )}
    </FilterForm>
  );
}
