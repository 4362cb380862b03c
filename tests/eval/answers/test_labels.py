from eval.rescore.account import Labels


def test_official_labels_by_number_or_name_are_right() -> None:
    labels = Labels({("1", 1): 5, ("temporal", 2): 3, ("4", 4): 9})
    assert labels.relabelled == 0
    assert labels.sentence() is None


def test_a_permutation_is_named() -> None:
    labels = Labels({("3", 1): 282, ("2", 2): 321, ("4", 3): 96, ("1", 4): 841})
    assert labels.relabelled == 282 + 96 + 841
    sentence = labels.sentence() or ""
    assert sentence.startswith("The file's categories are a permutation of the official")
    assert "1 is 4 single_hop; 3 is 1 multi_hop; 4 is 3 open_domain" in sentence
    assert "2 is" not in sentence
    assert labels.table() == (
        ["label in the file", "1 multi_hop", "2 temporal", "3 open_domain", "4 single_hop"],
        [
            ["1", "0", "0", "0", "841"],
            ["2", "0", "321", "0", "0"],
            ["3", "282", "0", "0", "0"],
            ["4", "0", "0", "96", "0"],
        ],
    )


def test_other_names_for_the_same_types_are_no_permutation() -> None:
    sentence = Labels({("Reasoning", 1): 4, ("Time", 2): 4}).sentence() or ""
    assert "other names: Reasoning is 1 multi_hop; Time is 2 temporal" in sentence
    assert "permutation" not in sentence


def test_labels_that_are_mixed_up_are_counted() -> None:
    sentence = Labels({("1", 1): 4, ("1", 4): 2, ("4", 4): 1_000}).sentence() or ""
    assert "Another category than the official one: 2 of 1,006 rows" in sentence
    assert "permutation" not in sentence
