import pytest

# Shared checks live outside of test files; without this their failures would explain nothing.
pytest.register_assert_rewrite("tests.memsys.contract")
