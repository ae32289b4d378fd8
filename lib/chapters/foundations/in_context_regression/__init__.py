"""What does a linear attention head compute in context, may two blocks of it be zero, and how well can it do?"""
